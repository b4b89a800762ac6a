package loop

import (
	"errors"
	"fmt"
	"slices"

	"simplex/hooks"
	"simplex/state"
)

// edit lets hooks change the state under the rules of §3.4. They work on a clone, so
// an error, a panic or a broken rule leaves everything as it was.
func (r *run) edit(e *hooks.Event) error {
	if r.cfg.Hooks.Empty() {
		return nil
	}
	e.Edit = editable(r.st)
	if err := r.tell(e); err != nil {
		return err
	}
	err := r.guard("edit check", func() error { return r.checkEdit(e.Edit) })
	if err != nil {
		return fmt.Errorf("edit at %s refused: %w", e.Name, err)
	}
	next := *e.Edit
	next.Loop = r.st.Loop
	next.Turns = kept(r.st.Turns, next.Turns)
	next.Tools = kept(r.st.Tools, next.Tools)
	next.SystemPrompt.Sections = kept(r.st.SystemPrompt.Sections, next.SystemPrompt.Sections)
	*r.st = next
	return nil
}

// kept is the old slice if nothing in it changed, for those who keep what they worked
// out by its identity.
func kept[T comparable](before, after []T) []T {
	if slices.Equal(before, after) {
		return before
	}
	return after
}

// editable is a clone whose slices are its own, so that even a handler that assigns to
// an element does not reach the state before the edit is accepted.
func editable(st *state.State) *state.State {
	c := st.Clone()
	c.Turns = slices.Clone(c.Turns)
	c.Tools = slices.Clone(c.Tools)
	c.SystemPrompt.Sections = slices.Clone(c.SystemPrompt.Sections)
	c.Loop.Pending = slices.Clone(c.Loop.Pending)
	return c
}

// checkEdit checks the rules. The whole structure is checked only if turns changed.
func (r *run) checkEdit(edited *state.State) error {
	if edited == nil {
		return errors.New("the state is missing")
	}
	if !sameProgress(edited.Loop, r.st.Loop) {
		return errors.New("the loop record was changed")
	}
	if !slices.Equal(edited.Turns, r.st.Turns) {
		if r.st.Loop.Phase != state.PhaseReady {
			return fmt.Errorf("the history was changed in phase %q", r.st.Loop.Phase)
		}
		if len(edited.Turns) == 0 {
			return errors.New("no turn is left")
		}
		if err := state.Check(edited); err != nil {
			return err
		}
		r.ids = nil // the hook may have brought ids of its own
	}
	return r.prove(&edited.SystemPrompt)
}

func sameProgress(a, b *state.LoopProgress) bool {
	return a != nil &&
		a.Status == b.Status &&
		a.Phase == b.Phase &&
		a.CompletedExchanges == b.CompletedExchanges &&
		a.CommittedSequence == b.CommittedSequence &&
		a.Error == b.Error &&
		a.Unknown == b.Unknown &&
		slices.Equal(a.Pending, b.Pending)
}
