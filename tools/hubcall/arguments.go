package hubcall

import (
	"fmt"
	"slices"

	"simplex/state"
	"simplex/tools"
)

// arguments builds an object of strings from names and values.
func arguments(pairs ...string) state.Object {
	var members []state.Member
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, state.Member{Name: pairs[i], Value: state.StringValue(pairs[i+1])})
	}
	if len(members) == 0 {
		return state.EmptyObject()
	}
	return state.ObjectFrom(members)
}

// onlyFields refuses members of an object argument that are not among the valid ones.
func onlyFields(o state.Object, valid ...string) error {
	for name := range o.All() {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("has an unknown member %.40q; the valid ones are %q", name, valid)
		}
	}
	return nil
}

// requireID reads the id of a subagent.
func requireID(a *tools.Arguments) string {
	id := a.RequireString("subagent_id")
	if !validID(id) {
		a.Failf("subagent_id", "must be 1 to 128 letters, digits, _ or -, as subagent_fork gave it")
	}
	return id
}

// validID is ^[A-Za-z0-9_-]{1,128}$.
func validID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
