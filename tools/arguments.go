package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"simplex/state"
)

// Arguments gives a tool the arguments of one call (§1.5). Every accessor refuses
// and none coerces: "5" is not 5, 5.0 is not 5, 1 is not true. JSON null counts as
// absent. The first refusal is kept and reported by Err; after it an accessor gives
// fallbacks, so a tool reads everything and asks once.
//
// The Settle family also writes the effective value back, so that the record shows
// what really applied.
type Arguments struct {
	members []state.Member
	err     error
}

// newArguments takes a call's arguments as the provider left them: a string is text
// that was no valid JSON.
func newArguments(v state.Value) (*Arguments, error) {
	if v.IsNull() {
		return &Arguments{}, nil
	}
	if raw, ok := v.Text(); ok {
		return nil, unparsable(raw)
	}
	o, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("the arguments must be one JSON object, not %s", kindName(v))
	}
	return &Arguments{members: o.Members()}, nil
}

func unparsable(raw string) error {
	if _, err := state.ParseValue([]byte(raw)); err != nil {
		return fmt.Errorf("the arguments are not valid JSON (%w); send one complete JSON object", err)
	}
	return fmt.Errorf("the arguments must be one JSON object, not a string")
}

// refuseUnknown names the first argument that the tool does not take.
func (a *Arguments) refuseUnknown(valid []string, tool Tool) error {
	for _, m := range a.members {
		if retirer, ok := tool.(Retirer); ok {
			if advice, ok := retirer.Retired(m.Name); ok {
				return fmt.Errorf("argument %q is no longer taken: %s", m.Name, advice)
			}
		}
		if slices.Contains(valid, m.Name) {
			continue
		}
		if len(valid) == 0 {
			return fmt.Errorf("unknown argument %q; this tool takes no arguments", clip(m.Name))
		}
		return fmt.Errorf("unknown argument %q%s; the valid ones are: %s", clip(m.Name), didYouMean(m.Name, valid), strings.Join(valid, ", "))
	}
	return nil
}

// Err is the first refusal, nil when every argument read so far was good.
func (a *Arguments) Err() error { return a.err }

// Failf refuses an argument for a reason of the tool's own, unless another was
// refused before.
func (a *Arguments) Failf(name, format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("argument %q "+format, append([]any{name}, args...)...)
	}
}

// Names lists what was given, in order.
func (a *Arguments) Names() []string {
	out := make([]string, len(a.members))
	for i, m := range a.members {
		out[i] = m.Name
	}
	return out
}

// Has tells whether the argument was given and is not null.
func (a *Arguments) Has(name string) bool {
	_, ok := a.Value(name)
	return ok
}

// Value gives an argument of any kind; null counts as absent.
func (a *Arguments) Value(name string) (state.Value, bool) {
	for _, m := range a.members {
		if m.Name == name {
			return m.Value, !m.Value.IsNull()
		}
	}
	return state.Value{}, false
}

// Settle writes an effective value into the call.
func (a *Arguments) Settle(name string, v state.Value) {
	for i := range a.members {
		if a.members[i].Name == name {
			a.members[i].Value = v
			return
		}
	}
	a.members = append(a.members, state.Member{Name: name, Value: v})
}

func (a *Arguments) object() state.Object { return state.ObjectFrom(a.members) }

// kindName is the JSON kind in words, for messages.
func kindName(v state.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return "nothing"
	}
}

// clip keeps a message short, whatever the model sent.
func clip(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
