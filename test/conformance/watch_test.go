package conformance

import (
	"testing"
	"time"

	"simplex/state"
	"simplex/test/conformance/rig"
)

// awaitState waits until the state on disk satisfies ok. The worker replaces the file
// atomically, so that each look sees a whole one.
func awaitState(t *testing.T, r *rig.Rig, ok func(*state.State) bool) {
	t.Helper()
	ctx := rig.Deadline(t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if st := r.State(); st != nil && ok(st) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the state on disk did not come to what is wanted")
		}
	}
}
