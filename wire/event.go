package wire

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strconv"
	"strings"

	"simplex/internal/text"
)

// Event is the envelope of a worker event (wire.md §2).
type Event struct {
	Name EventName
	EventIDs
	Sequence uint64
	Data     jsontext.Value // one JSON value; empty is written as {}
}

// EventIDs say whom an event is from and which request and run it belongs to.
type EventIDs struct {
	SessionID string
	WorkerID  string
	RequestID string // "" before the first admission
	RunID     string
}

// AppendEvent appends the encoded envelope: every member always there, in the
// contract's order. Data is copied as it is and must be valid JSON.
func AppendEvent(dst []byte, e *Event) []byte {
	dst = append(dst, `{"type":"event","event":`...)
	dst = AppendString(dst, string(e.Name))
	dst = append(dst, `,"session_id":`...)
	dst = AppendString(dst, e.SessionID)
	dst = append(dst, `,"worker_id":`...)
	dst = AppendString(dst, e.WorkerID)
	dst = append(dst, `,"request_id":`...)
	dst = AppendString(dst, e.RequestID)
	dst = append(dst, `,"run_id":`...)
	dst = AppendString(dst, e.RunID)
	dst = append(dst, `,"sequence":`...)
	dst = strconv.AppendUint(dst, e.Sequence, 10)
	dst = append(dst, `,"data":`...)
	if len(e.Data) == 0 {
		dst = append(dst, "{}"...)
	}
	dst = append(dst, e.Data...)
	return append(dst, '}')
}

// EventSize is an upper bound of what AppendEvent writes, cheap to compute.
func EventSize(e *Event) int {
	const fixed = 128 + MaxSequenceChars
	ids := len(e.Name) + len(e.SessionID) + len(e.WorkerID) + len(e.RequestID) + len(e.RunID)
	return fixed + 6*ids + len(e.Data)
}

// EncodeData encodes the data of an event: compact, members in declared order, bytes
// that are no UTF-8 as U+FFFD.
func EncodeData(v any) (jsontext.Value, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
}

// Notice is a message text for people inside an event. It is encoded in at most
// MaxNotice bytes of its own; the end of a longer one is cut and counted.
type Notice string

// MarshalJSONTo implements the cut.
func (n Notice) MarshalJSONTo(enc *jsontext.Encoder) error {
	s := strings.ToValidUTF8(string(n[:min(len(n), 2*MaxNotice)]), "\uFFFD")
	if len(n) <= MaxNotice {
		return enc.WriteToken(jsontext.String(s))
	}
	s = text.Prefix(s, MaxNotice)
	s += " [" + strconv.Itoa(len(n)-len(s)) + " bytes omitted]"
	return enc.WriteToken(jsontext.String(s))
}
