package offline

import "time"

// Reply is one scripted answer. The zero Reply is an empty answer that stops. It is
// sent in the protocol in which it was asked for.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    string        // a finish_reason; "": tool_calls with calls, else stop
	Delay     time.Duration // before anything is sent; ends early when the client goes
	Hang      bool          // send nothing until the client goes
	Status    int           // an HTTP status other than 200; Body is sent as it is
	Header    map[string]string
	Body      string // with Status 0: sent as the whole stream instead of an answer
	Flaw      Flaw
}

// Call is a tool call of a Reply. Arguments is the JSON text as the model would write
// it, valid or not.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// Flaw is how a stream differs from what the protocol's own server sends. The zero Flaw
// is none.
type Flaw struct {
	NoEnd      bool          // no finish_reason; in Responses: no terminal event
	NoDone     bool          // no [DONE]
	Index      string        // IndexZero: every call stands at 0; IndexNone: nowhere
	EmptyFirst bool          // an event without content comes first
	Fault      string        // JSON of an error object that comes in place of the end
	Stall      bool          // silence after the first piece of content, until the client goes
	Noise      bool          // comments, pings, CRLF, data in two lines
	Pause      time.Duration // before each event
}

// Values of Flaw.Index.
const (
	IndexZero = "zero"
	IndexNone = "none"
)
