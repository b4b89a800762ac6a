package wire

import (
	"encoding/json/jsontext"
	"fmt"
)

// Signal is a valid signal (wire.md §4).
type Signal struct {
	Operation Operation // status, options, cancel, shutdown or stream
	RunID     string    // of cancel
	Enabled   bool      // of stream
}

// SignalError says what is wrong with a signal; it is answered by an `error` event.
type SignalError struct {
	Field   string
	Problem string
}

func (e *SignalError) Error() string { return fmt.Sprintf("signal: %s: %s", e.Field, e.Problem) }

// DecodeSignal validates the data of a signal. Every error is a *SignalError; members
// that the operation does not use are ignored.
func DecodeSignal(data jsontext.Value) (Signal, error) {
	f, err := readFields(data)
	if err != nil {
		return Signal{}, &SignalError{"data", err.Error()}
	}
	op, ok := f.text("operation")
	if !ok {
		return Signal{}, &SignalError{"operation", "must be a string"}
	}
	s := Signal{Operation: Operation(op)}
	switch s.Operation {
	case OpStatus, OpOptions, OpShutdown:
	case OpCancel:
		if s.RunID, _ = f.text("run_id"); s.RunID == "" {
			return Signal{}, &SignalError{"run_id", "must be a nonempty string"}
		}
	case OpStream:
		switch f["enabled"].Kind() {
		case 't':
			s.Enabled = true
		case 'f':
		default:
			return Signal{}, &SignalError{"enabled", "must be true or false"}
		}
	default:
		return Signal{}, &SignalError{"operation", fmt.Sprintf("unknown: %q", clipWord(op))}
	}
	return s, nil
}
