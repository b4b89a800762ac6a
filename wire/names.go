package wire

// EventName is the name of a worker event (wire.md §5).
type EventName string

// The events of a worker. ModelDelta is sent only to a Hub that asked for it.
const (
	EventReady           EventName = "ready"
	EventStatus          EventName = "status"
	EventOptions         EventName = "options"
	EventHistory         EventName = "history"
	EventHistoryError    EventName = "history_error"
	EventAnswer          EventName = "answer"
	EventAnswerError     EventName = "answer_error"
	EventInputAdmitted   EventName = "input_admitted"
	EventInputRejected   EventName = "input_rejected"
	EventRunStarted      EventName = "run_started"
	EventInputCommitted  EventName = "input_committed"
	EventModelResponse   EventName = "model_response"
	EventModelDelta      EventName = "model_delta"
	EventToolCalls       EventName = "tool_calls"
	EventToolResults     EventName = "tool_results"
	EventPersisted       EventName = "persisted"
	EventExportError     EventName = "export_error"
	EventCompactFinished EventName = "compact_finished"
	EventError           EventName = "error"
	EventRunFinished     EventName = "run_finished"
)

// Known tells whether the contract names this event; others are still accepted.
func (n EventName) Known() bool {
	switch n {
	case EventReady, EventStatus, EventOptions, EventHistory, EventHistoryError,
		EventAnswer, EventAnswerError, EventInputAdmitted, EventInputRejected,
		EventRunStarted, EventInputCommitted, EventModelResponse, EventModelDelta,
		EventToolCalls, EventToolResults, EventPersisted, EventExportError,
		EventCompactFinished, EventError, EventRunFinished:
		return true
	}
	return false
}

// Operation is the `operation` of a payload or a signal.
type Operation string

// Inputs, queries and signals.
const (
	OpMessage  Operation = "message"
	OpContinue Operation = "continue"
	OpCompact  Operation = "compact"

	OpHistory Operation = "history"
	OpAnswer  Operation = "answer"

	OpStatus   Operation = "status"
	OpOptions  Operation = "options"
	OpCancel   Operation = "cancel"
	OpShutdown Operation = "shutdown"
	OpStream   Operation = "stream"
)

// IsQuery tells whether the operation goes to the query queue.
func (op Operation) IsQuery() bool { return op == OpHistory || op == OpAnswer }

// Capabilities announced in the status object.
const (
	CapHistory     = "session-history"
	CapCompact     = "context-compact"
	CapAutoCompact = "auto-compact"
	CapAnswerPages = "answer-pages"
	CapModelStream = "model-stream"
)

// Codes of input_rejected, history_error and answer_error.
const (
	CodeInvalidOptions = "invalid_options"
	CodePayloadFull    = "payload_queue_full"
	CodeQueryFull      = "query_queue_full"
	CodeQueryTooLarge  = "query_too_large"
)

// Mode is the confirmation policy of a run.
type Mode string

// The modes; ask is the default.
const (
	ModeAsk     Mode = "ask"
	ModeApprove Mode = "approve"
	ModeDeny    Mode = "deny"
)

// Valid tells whether m is one of the three modes.
func (m Mode) Valid() bool { return m == ModeAsk || m == ModeApprove || m == ModeDeny }
