package loop_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"simplex/hooks"
	"simplex/state"
)

// A snapshot taken at any event never changes: another goroutine encodes it while
// the run goes on (the race detector watches), and it stays the same.
func TestSnapshotsNeverChange(t *testing.T) {
	t.Parallel()
	r := newRig(
		says("", "write:a", "read:a", "read:"),
		says("", "p:x", "rpanics:y"),
		says("done"),
		says("", "write:a"),
		says("done"),
	)
	r.tools.do["rpanics"] = func(state.Call) state.Result { panic("boom") }
	var readers sync.WaitGroup
	finished, finish := context.WithCancel(t.Context())
	watch := func(st *state.State, where hooks.Name) {
		first := string(encoded(t, st))
		readers.Go(func() {
			for i := range 20 { // 19 times beside the run, once after it
				if i == 19 {
					<-finished.Done()
				}
				if again := string(encoded(t, st)); again != first {
					t.Errorf("the snapshot of %s changed:\n%s\n%s", where, first, again)
					return
				}
			}
		})
	}
	r.hooks(hook(func(e *hooks.Event) error {
		watch(e.State, e.Name)
		if e.Edit != nil {
			// A hook that edits is the hardest case for the snapshots around it.
			turns := e.Edit.Turns
			turn := *turns[len(turns)-1]
			turn.Extras = turn.Extras.With("seen", state.StringValue(strings.Repeat("x", len(turn.Steps))))
			e.Edit.Turns[len(turns)-1] = &turn
			e.Edit.Meta.UpdatedAt = "later"
		}
		return nil
	}))
	wantStatus(t, r.run(t, said("one")), state.StatusCompleted)
	wantStatus(t, r.run(t, said("two")), state.StatusCompleted)
	for _, seen := range r.model.seen {
		watch(seen, "the model")
	}
	finish()
	readers.Wait()
}
