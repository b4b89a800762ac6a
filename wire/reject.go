package wire

import (
	"encoding/json/jsontext"
	"unicode/utf8"

	"simplex/state"
)

// InputRejected is the data of input_rejected: why a payload was not admitted.
type InputRejected struct {
	RequestID state.Value `json:"request_id"` // as received, or null
	Message   Notice      `json:"message"`
	Operation state.Value `json:"operation,omitzero"` // as received; null when too large
	Code      string      `json:"code,omitzero"`
}

// EnvelopeID is the request_id of the event's envelope: the rejected id, "" if it is
// not a string of at most MaxID bytes.
func (r *InputRejected) EnvelopeID() string { return envelopeID(r.RequestID) }

// NewInputRejected builds the data from the members as received (nil = missing). What
// is too large to echo becomes null (tools.md §5.5).
func NewInputRejected(requestID, operation jsontext.Value, message, code string) *InputRejected {
	r := &InputRejected{Message: Notice(message), Code: code}
	r.RequestID = echo(requestID, MaxFeedbackID)
	if operation != nil {
		r.Operation = echo(operation, MaxFeedbackOp)
	}
	return r
}

// QueryFailed is the data of history_error and answer_error.
type QueryFailed struct {
	RequestID state.Value `json:"request_id"` // a string of at most MaxID characters, or null
	Message   Notice      `json:"message"`
	Code      string      `json:"code,omitzero"`

	Operation Operation `json:"-"` // history or answer
}

// EnvelopeID is as for InputRejected.
func (q *QueryFailed) EnvelopeID() string { return envelopeID(q.RequestID) }

// Event is the event that carries this failure.
func (q *QueryFailed) Event() EventName {
	if q.Operation == OpAnswer {
		return EventAnswerError
	}
	return EventHistoryError
}

// NewQueryFailed builds the data from the request_id as received (nil = missing).
func NewQueryFailed(op Operation, requestID jsontext.Value, message, code string) *QueryFailed {
	q := &QueryFailed{RequestID: state.NullValue(), Message: Notice(message), Code: code, Operation: op}
	// A character takes at most twelve bytes (two escapes), so a longer value cannot fit.
	if len(requestID) > 12*MaxID+2 {
		return q
	}
	if id, ok := textOf(requestID); ok && utf8.RuneCountInString(id) <= MaxID {
		q.RequestID = state.StringValue(id)
	}
	return q
}

func envelopeID(v state.Value) string {
	if id, ok := v.Text(); ok && len(id) <= MaxID {
		return id
	}
	return ""
}

func echo(raw jsontext.Value, limit int) state.Value {
	if len(raw) == 0 || len(raw) > limit {
		return state.NullValue()
	}
	v, err := state.ParseValue(raw)
	if err != nil || len(v.String()) > limit {
		return state.NullValue()
	}
	return v
}
