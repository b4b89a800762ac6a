package loop

import (
	"slices"

	"simplex/state"
)

// acceptResponse makes the call ids of a response unique (decision 9.11) and validates
// it (§3.2, 4). The message given is not written to.
func (r *run) acceptResponse(m *state.Message) (*state.Message, error) {
	if m != nil && len(m.Calls) > 0 {
		m = r.withUniqueIDs(m)
	}
	return m, state.CheckResponse(m)
}

func (r *run) withUniqueIDs(m *state.Message) *state.Message {
	if r.ids == nil {
		r.ids = callIDs(r.st.Turns)
	}
	fresh := r.ids.assign(m.Calls)
	if fresh == nil {
		return m
	}
	unique := *m
	unique.Calls = fresh
	return &unique
}

// idSet is the call ids in use, with the next suffix to try for each repeated one.
type idSet struct {
	used map[string]struct{}
	next map[string]int
}

func callIDs(turns []*state.Turn) *idSet {
	s := &idSet{used: map[string]struct{}{}, next: map[string]int{}}
	for _, t := range turns {
		for _, step := range t.Steps {
			for _, c := range step.ModelResponse.Calls {
				s.used[c.ID] = struct{}{}
			}
		}
	}
	return s
}

// assign takes the ids of the calls into the set. It returns nil when all were fresh,
// else a copy of the calls in which empty and repeated ids have become `<id>~2` and so on.
func (s *idSet) assign(calls []state.Call) []state.Call {
	var changed []state.Call
	for i, c := range calls {
		id, next := state.UniqueCallID(c.ID, s.next[c.ID], s.has)
		s.used[id] = struct{}{}
		if id == c.ID {
			continue
		}
		s.next[c.ID] = next
		if changed == nil {
			changed = slices.Clone(calls)
		}
		changed[i].ID = id
	}
	return changed
}

func (s *idSet) has(id string) bool {
	_, used := s.used[id]
	return used
}
