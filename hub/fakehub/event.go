package fakehub

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
)

// Event is one event as it came.
type Event struct {
	Name      string
	SessionID string
	WorkerID  string
	RequestID string
	RunID     string
	Sequence  uint64
	Data      jsontext.Value
	Raw       string
}

// Field is the text at a path of object members in the data; "" where there is none or
// it is no text.
func (e Event) Field(path ...string) string {
	var s string
	_ = json.Unmarshal(e.Value(path...), &s)
	return s
}

// Value is the JSON at a path of object members in the data, nil where there is none.
func (e Event) Value(path ...string) jsontext.Value {
	v := e.Data
	for _, name := range path {
		var object map[string]jsontext.Value
		if json.Unmarshal(v, &object) != nil {
			return nil
		}
		v = object[name]
	}
	return v
}

// members are the envelope of wire.md §2: every one is always there.
var members = [...]string{"type", "event", "session_id", "worker_id", "request_id", "run_id", "sequence", "data"}

// decodeEvent reads an envelope member by member.
func decodeEvent(raw []byte) (Event, error) {
	e := Event{Raw: string(raw)}
	dec := jsontext.NewDecoder(strings.NewReader(e.Raw))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return e, fmt.Errorf("envelope is no object (%v)", err)
	}
	seen := make(map[string]jsontext.Value)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return e, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return e, err
		}
		seen[key] = value.Clone()
	}
	for _, name := range members {
		if seen[name] == nil {
			return e, fmt.Errorf("envelope without %s", name)
		}
	}
	if len(seen) != len(members) {
		return e, fmt.Errorf("envelope of %d members", len(seen))
	}
	return e, e.read(seen)
}

func (e *Event) read(seen map[string]jsontext.Value) error {
	var kind string
	for _, f := range []struct {
		name string
		into any
	}{
		{"type", &kind},
		{"event", &e.Name},
		{"session_id", &e.SessionID},
		{"worker_id", &e.WorkerID},
		{"request_id", &e.RequestID},
		{"run_id", &e.RunID},
		{"sequence", &e.Sequence},
		{"data", &e.Data},
	} {
		if err := json.Unmarshal(seen[f.name], f.into); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if kind != "event" {
		return fmt.Errorf("envelope of type %q", kind)
	}
	return nil
}
