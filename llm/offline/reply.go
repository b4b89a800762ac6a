package offline

import "time"

// Reply is one scripted answer. The zero Reply is an empty answer that stops.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string        // "": tool_calls with calls, else stop
	Delay     time.Duration // before anything is sent; ends early when the client goes
	Hang      bool          // send nothing until the client goes
	Status    int           // an HTTP status other than 200; Body is sent as it is
	Header    map[string]string
	Body      string // with Status 0: sent as the whole stream instead of an answer
}

// Call is a tool call of a Reply. Arguments is the JSON text as the model would write
// it, valid or not.
type Call struct {
	ID        string
	Name      string
	Arguments string
}
