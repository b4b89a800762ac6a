package wire

import (
	"encoding/json/jsontext"
	"strconv"

	"simplex/state"
)

// Received is an event as the Hub reads it. Data aliases the message.
type Received struct {
	Event
	HasSequence bool     // Sequence was readable as a uint64
	Issues      []string // what is missing or odd but not fatal
}

// DecodeEvent reads a worker event for the Hub (hub.md §3.1). A *FrameError means a fatal
// protocol error of the peer; what may be tolerated is listed in Issues. That the session
// is the connection's own is the caller's to check.
func DecodeEvent(raw []byte) (Received, error) {
	f, err := readFields(raw)
	if err != nil {
		return Received{}, &FrameError{Problem: "invalid", Err: err}
	}
	if typ, _ := f.text("type"); typ != "event" {
		return Received{}, &FrameError{Problem: "type is not event"}
	}
	var r Received
	name, _ := f.text("event")
	r.Name = EventName(name)
	r.SessionID, _ = f.text("session_id")
	r.WorkerID, _ = f.text("worker_id")
	r.RequestID = r.optional(f, "request_id")
	r.RunID = r.optional(f, "run_id")
	switch {
	case name == "":
		return Received{}, &FrameError{Problem: "event is missing"}
	case r.WorkerID == "":
		return Received{}, &FrameError{Problem: "worker_id is missing"}
	case !ValidSessionID(r.SessionID):
		return Received{}, &FrameError{Problem: "session_id is bad"}
	case max(len(name), len(r.WorkerID), len(r.RequestID), len(r.RunID)) > MaxID:
		return Received{}, &FrameError{Problem: "an id is too long"}
	}
	r.sequence(f["sequence"])
	if r.Data = f["data"]; r.Data == nil {
		r.Issues = append(r.Issues, "data is missing")
	}
	return r, nil
}

func (r *Received) optional(f fields, name string) string {
	s, ok := f.text(name)
	if !ok {
		r.Issues = append(r.Issues, name+" is missing or no string")
	}
	return s
}

// sequence reads a number or a numeric string without loss.
func (r *Received) sequence(v jsontext.Value) {
	digits := string(v)
	if s, ok := textOf(v); ok {
		digits = s
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > MaxSequenceChars {
		r.Issues = append(r.Issues, "sequence is missing or no uint64")
		return
	}
	r.Sequence, r.HasSequence = n, true
}

// ValidSessionID is the rule of state.ValidSessionID, for those who know frames only.
func ValidSessionID(s string) bool { return state.ValidSessionID(s) }
