package tools

import (
	"slices"
	"strconv"

	"simplex/state"
)

// text reads a string; ok is false when it is absent or refused.
func (a *Arguments) text(name string) (string, bool) {
	v, ok := a.Value(name)
	if !ok {
		return "", false
	}
	s, ok := v.Text()
	if !ok {
		a.Failf(name, "must be a string, not %s", kindName(v))
	}
	return s, ok
}

// RequireString reads a string that must be there and not empty.
func (a *Arguments) RequireString(name string) string {
	s := a.RequireText(name)
	if s == "" {
		a.Failf(name, "must not be empty")
	}
	return s
}

// RequireText reads a string that must be there, and may be empty.
func (a *Arguments) RequireText(name string) string {
	if !a.Has(name) {
		a.Failf(name, "is required")
	}
	s, _ := a.text(name)
	return s
}

// OptionalString reads a string that may be absent (ok false), but not empty. It is
// not settled: absence has its own meaning.
func (a *Arguments) OptionalString(name string) (s string, ok bool) {
	s, ok = a.text(name)
	if ok && s == "" {
		a.Failf(name, "must not be empty; leave it out instead")
	}
	return s, ok
}

// SettleString reads a string, which may be empty, or the fallback.
func (a *Arguments) SettleString(name, fallback string) string {
	s, ok := a.text(name)
	if !ok {
		s = fallback
	}
	a.Settle(name, state.StringValue(s))
	return s
}

// SettleEnum reads one of the allowed strings, or the fallback.
func (a *Arguments) SettleEnum(name, fallback string, allowed ...string) string {
	s := a.SettleString(name, fallback)
	a.oneOf(name, s, allowed)
	return s
}

// RequireEnum reads one of the allowed strings, which must be there.
func (a *Arguments) RequireEnum(name string, allowed ...string) string {
	s := a.RequireText(name)
	a.oneOf(name, s, allowed)
	return s
}

func (a *Arguments) oneOf(name, s string, allowed []string) {
	if !slices.Contains(allowed, s) {
		a.Failf(name, "must be one of %q", allowed)
	}
}

// SettleBool reads true or false, or the fallback.
func (a *Arguments) SettleBool(name string, fallback bool) bool {
	b := fallback
	if v, ok := a.Value(name); ok {
		switch v.Kind() {
		case 't':
			b = true
		case 'f':
			b = false
		default:
			a.Failf(name, "must be true or false, not %s", kindName(v))
		}
	}
	a.Settle(name, state.BoolValue(b))
	return b
}

// ReadUint reads a JSON integer within the limits, both included, or the fallback.
// The call is not changed.
func (a *Arguments) ReadUint(name string, fallback, lowest, highest uint64) uint64 {
	v, ok := a.Value(name)
	if !ok {
		return fallback
	}
	if v.Kind() != '0' {
		a.Failf(name, "must be an integer, not %s", kindName(v))
		return fallback
	}
	n, err := strconv.ParseUint(v.String(), 10, 64)
	if err != nil {
		a.Failf(name, "must be a whole number of 0 or more, not %s", clip(v.String()))
		return fallback
	}
	if n < lowest || n > highest {
		a.Failf(name, "must be from %d to %d, not %d", lowest, highest, n)
		return fallback
	}
	return n
}

// SettleUint is ReadUint which writes the effective value back.
func (a *Arguments) SettleUint(name string, fallback, lowest, highest uint64) uint64 {
	n := a.ReadUint(name, fallback, lowest, highest)
	a.Settle(name, state.UintValue(n))
	return n
}

// SettleStrings reads a list of strings; absent is the empty list.
func (a *Arguments) SettleStrings(name string) []string {
	list := a.strings(name)
	v, _ := state.ValueOf(list)
	a.Settle(name, v)
	return list
}

// RequireStrings reads a list of strings that must be there and not empty.
func (a *Arguments) RequireStrings(name string) []string {
	if !a.Has(name) {
		a.Failf(name, "is required")
		return nil
	}
	list := a.strings(name)
	if len(list) == 0 {
		a.Failf(name, "must have at least one element")
	}
	return list
}

// strings never gives nil, so that an absent list settles as [].
func (a *Arguments) strings(name string) []string {
	list := []string{}
	v, ok := a.Value(name)
	if !ok {
		return list
	}
	items, ok := v.Items()
	if !ok {
		a.Failf(name, "must be a list of strings, not %s", kindName(v))
		return list
	}
	for i, item := range items {
		s, ok := item.Text()
		if !ok {
			a.Failf(name, "must be a list of strings, but element %d is %s", i, kindName(item))
			return []string{}
		}
		list = append(list, s)
	}
	return list
}
