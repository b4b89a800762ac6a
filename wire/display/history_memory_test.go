package display

import (
	"runtime"
	"testing"
	"time"

	"simplex/state"
)

// The memory of fingerprints is bounded and keeps no conversation alive.
func TestFingerprintMemory(t *testing.T) {
	t.Parallel()
	var f Fingerprints
	freed := make(chan struct{})
	first := state.NewTextMessage(state.ModelResponse, "", "first")
	runtime.AddCleanup(first, func(c chan struct{}) { close(c) }, freed)
	f.Of(first)
	first = nil
	for range 3 * fingerprintsKept {
		f.Of(state.NewTextMessage(state.ModelResponse, "", "x"))
	}
	if len(f.known) > fingerprintsKept || len(f.ring) > fingerprintsKept {
		t.Errorf("%d remembered, %d in the ring", len(f.known), len(f.ring))
	}
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Error("a remembered message is not freed")
}
