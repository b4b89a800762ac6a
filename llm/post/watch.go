package post

import (
	"context"
	"sync"
	"time"

	"simplex/llm"
)

// watch is the one deadline of a try. Which one it is changes as the try goes on; when
// it passes, the try is cancelled with the reason.
type watch struct {
	clock  llm.Clock
	cancel context.CancelCauseFunc
	idle   time.Duration // 0: off

	mu     sync.Mutex
	timer  llm.Timer
	limit  time.Duration // of the phase; 0: none
	reason error
	over   bool
	fixed  bool // a deadline that data does not move
}

// arm starts a phase: the try ends with reason unless the phase changes or, where
// fixed is false, data arrives within limit. 0 switches the deadline off.
func (w *watch) arm(limit time.Duration, reason error, fixed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.limit, w.reason, w.fixed = limit, reason, fixed
	switch {
	case limit <= 0 && w.timer != nil:
		w.timer.Stop()
	case limit > 0 && w.timer != nil:
		w.timer.Reset(limit)
	case limit > 0:
		w.timer = w.clock.AfterFunc(limit, w.fire)
	}
}

// waitForData is the phase in which only silence ends the try.
func (w *watch) waitForData() {
	w.arm(w.idle, llm.ErrIdleTimeout, false)
}

// touch says that data has arrived.
func (w *watch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit > 0 && !w.fixed && !w.over && w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

func (w *watch) fire() {
	w.mu.Lock()
	over, reason := w.over || w.limit <= 0, w.reason
	w.mu.Unlock()
	if !over {
		w.cancel(reason)
	}
}

// stop ends the watch for good.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
