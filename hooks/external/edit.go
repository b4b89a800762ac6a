package external

import (
	"encoding/json/v2"
	"errors"
	"fmt"

	"simplex/state"
)

// ErrEdit: an edit that may not be applied.
var ErrEdit = errors.New("the edit is refused")

// apply puts the members of an edit in place of the state's, or changes nothing
// (worker-data.md §3.4). Records that came back as they were stay the same records.
func apply(st *state.State, edit state.Object) error {
	if !edit.IsSet() {
		return nil
	}
	raw, err := state.ObjectOf(st)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEdit, err)
	}
	for _, m := range edit.Members() {
		switch m.Name {
		case "system_prompt", "extras":
		case "turns":
			if st.Loop != nil && st.Loop.Phase != state.PhaseReady {
				return fmt.Errorf("%w: /turns: the history is frozen in phase %s", ErrEdit, st.Loop.Phase)
			}
		default:
			return fmt.Errorf("%w: /%s: only system_prompt, turns and extras can be edited", ErrEdit, m.Name)
		}
		raw = raw.With(m.Name, m.Value)
	}
	next, err := state.Decode(raw.Bytes())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEdit, err)
	}
	if len(next.Turns) == 0 && len(st.Turns) > 0 {
		return fmt.Errorf("%w: /turns: at least one must remain", ErrEdit)
	}
	if err := state.Check(next); err != nil {
		return fmt.Errorf("%w: %w", ErrEdit, err)
	}
	if _, err := next.SystemPrompt.Render(); err != nil {
		return fmt.Errorf("%w: /system_prompt: %w", ErrEdit, err)
	}
	take(st, next, edit)
	return nil
}

// take moves what was edited.
func take(st, next *state.State, edit state.Object) {
	if _, ok := edit.Get("system_prompt"); ok {
		st.SystemPrompt = next.SystemPrompt
	}
	if _, ok := edit.Get("extras"); ok {
		st.Extras = next.Extras
	}
	if _, ok := edit.Get("turns"); ok {
		st.Turns = same(st.Turns, next.Turns)
	}
}

// same puts the known record in place of one that encodes alike, so that what is kept
// per record, such as its encoding, stays good.
func same(before, after []*state.Turn) []*state.Turn {
	known := make(map[string]*state.Turn, len(before))
	for _, t := range before {
		if raw, err := json.Marshal(t); err == nil {
			known[string(raw)] = t
		}
	}
	out := make([]*state.Turn, len(after))
	for i, t := range after {
		out[i] = t
		if raw, err := json.Marshal(t); err == nil && known[string(raw)] != nil {
			out[i] = known[string(raw)]
		}
	}
	return out
}
