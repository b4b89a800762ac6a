package core

import (
	"context"
	"log/slog"
	"sync/atomic"

	"simplex/persistence"
	"simplex/state"
)

// snapshot is what goroutines other than the executor may see of the session.
type snapshot struct {
	state    *state.State
	revision uint64
}

// session is the state and its durability. Its fields belong to the executor; snapshots
// may be read by everyone.
type session struct {
	id     string
	st     *state.State
	store  persistence.Store // nil: persistence is off
	policy persistence.Policy
	logger *slog.Logger

	// persisted and failed tell the Hub; failed is called once.
	persisted func(b persistence.Boundary, format string)
	failed    func(err error)

	export     func(*state.State) error // writes readable.md; nil: off
	unexported func(err error)

	revision uint64
	snap     atomic.Pointer[snapshot]
	broken   atomic.Bool
	failure  error // what broke it; set once, before broken
}

// expose shows a snapshot of the state to readers.
func (s *session) expose() { s.show(s.st.Clone()) }

// show is expose for what is a snapshot already.
func (s *session) show(st *state.State) {
	s.snap.Store(&snapshot{state: st, revision: s.revision})
}

// moved advances the history revision and shows st.
func (s *session) moved(st *state.State) {
	s.revision++
	s.show(st)
}

// save makes st, the state or a snapshot of it, durable and tells of it afterwards. The
// first failure latches: from then on every save fails without touching the disk. saved
// is false where the boundary is turned off or persistence is. Saves are made one after
// the other, though not always on the executor's goroutine.
func (s *session) save(st *state.State, b persistence.Boundary) (saved bool, err error) {
	if s.broken.Load() {
		return false, persistence.ErrStorageFailed
	}
	if !s.saves(b) {
		return false, nil
	}
	if err := s.store.Save(context.Background(), st, b); err != nil {
		return false, s.latch(b, err)
	}
	s.persisted(b, s.store.Format())
	s.exportAt(st, b)
	return true, nil
}

// exportAt writes readable.md where a person may look; in the middle of a step the next
// save is near, and the export costs a pass over the whole history.
func (s *session) exportAt(st *state.State, b persistence.Boundary) {
	if s.export == nil || b == persistence.BeforeTools || b == persistence.ResultsReady {
		return
	}
	if err := s.export(st); err != nil {
		s.logger.Error("readable.md could not be written", "boundary", b, "error", err)
		s.unexported(err)
	}
}

// saves tells whether a save at the boundary writes anything.
func (s *session) saves(b persistence.Boundary) bool { return s.store != nil && s.policy.Saves(b) }

func (s *session) latch(b persistence.Boundary, err error) error {
	s.failure = err
	s.broken.Store(true)
	s.logger.Debug("state could not be saved; the worker stops and tells why", "boundary", b)
	s.failed(err)
	return err
}
