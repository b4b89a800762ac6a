package state

// State is one session's whole conversation (worker-data.md §1.3).
//
// Records reachable from a State are immutable once they are part of it: a change
// replaces the record (and the slice that holds it) instead of writing through a
// pointer. That makes a shallow copy a snapshot, lets stores and providers keep the
// encoding of records they have seen (keyed by pointer), and makes rollback free.
// Fields of State itself belong to the one goroutine that owns it.
type State struct {
	Meta         Meta
	SystemPrompt SystemPrompt
	Tools        []Tool
	Turns        []*Turn
	Extras       Object        // unset: the member is not written
	Loop         *LoopProgress // nil: the member is not written
	Unknown      Object        // members this program does not know; kept and written back
}

// Meta identifies the session and says when it was made and changed.
type Meta struct {
	SchemaVersion uint32 // 1 in a fresh state
	SessionID     string
	CreatedAt     string // YYYY-MM-DDTHH:MM:SSZ, UTC
	UpdatedAt     string
	Status        SessionStatus
	Error         Object
	Unknown       Object
}

// SystemPrompt is the ordered list of prompt sections.
type SystemPrompt struct {
	HeadingLevel int // 1..6 when rendered; 2 by default
	Sections     []Section
	Unknown      Object
}

// Section is one part of the system prompt.
type Section struct {
	Name      string
	Title     string
	Stability SectionStability
	Text      string
	Unknown   Object
}

// Tool describes one callable tool as offered to the model (Invocable in the contract).
type Tool struct {
	Name           string
	Description    string
	ArgumentSchema Object // a JSON Schema; always written
	RemoteType     *string
	Extras         Object
	Unknown        Object
}

// Turn is one user input and the steps that answered it (UserLoopStep).
type Turn struct {
	UserInput *Message // never nil
	Steps     []*Step
	Retain    RetainPriority
	Extras    Object
	Unknown   Object
}

// Step is one model response and the results of its calls (AgentLoopStep).
type Step struct {
	ModelResponse  *Message // never nil
	Returns        []*Message
	ReturnsSet     bool // whether invoke_returns is written; true whenever Returns is not empty
	Retain         RetainPriority
	CommitSequence uint64 // 0: not written
	Extras         Object
	Unknown        Object
}

// Message is one item of the conversation (MessageItem).
type Message struct {
	Type         MessageType
	Role         string // adapters derive it when empty
	Content      []Content
	Reasoning    *Content
	ActionStatus *Content
	Calls        []Call // "invokes"
	CallsSet     bool   // whether invokes is written; true whenever Calls is not empty
	Cost         *TokenCost
	Result       *Result // "invoke_return"
	Extras       Object
	Unknown      Object
}

// Content is one part of a message or of a tool's output.
type Content struct {
	Type     ContentType
	Raw      string // text, base64 for binary, a URL or reference for external_ref
	Modality Modality
	Extras   Object
	Unknown  Object
}

// TokenCost is what one exchange used. CacheHit is part of Prompt.
type TokenCost struct {
	Prompt    uint64
	Generated uint64
	CacheHit  uint64
	Unknown   Object
}

// Call is one tool call (InvokeQuery): raw as the model made it inside a model
// response, settled inside a Result.
type Call struct {
	Type      InvokeType
	Security  InvokeSecurity
	ID        string
	Name      string
	Arguments Value // any JSON; a string where the provider's text was not valid JSON
	Extras    Object
	Unknown   Object
}

// Result answers one call (InvokeReturn).
type Result struct {
	Call    Call // "query"
	Output  Content
	Extras  Object
	Unknown Object
}

// LoopProgress is where the agent loop stands (§1.10).
type LoopProgress struct {
	Status             LoopStatus
	Phase              LoopPhase
	CompletedExchanges uint64
	CommittedSequence  uint64 // committed_response_sequence
	Error              string
	Pending            []Result // nonempty only in phase projection
	Unknown            Object
}
