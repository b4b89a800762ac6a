package sqlitestore

import (
	"context"
	"errors"
	"io"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore/table"
	"simplex/state"
)

// calmSaves is how many saves may gather in the log before one at a boundary where
// nobody waits for the next exchange moves them into the file.
const calmSaves = 64

// Save writes what changed since the last one. See persistence.Store. ctx is not looked
// at: a boundary that was reached must be saved. A state of another session is a
// *persistence.ForeignSessionError; it does not latch, for storage has not failed.
func (s *Store) Save(_ context.Context, st *state.State, b persistence.Boundary) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable("save"); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	if !s.cfg.Policy.Saves(b) {
		return nil
	}
	if err := s.own(st.Meta.SessionID); err != nil {
		return err
	}
	if err := s.save(st, b); err != nil {
		if errors.Is(err, table.ErrInvalidText) {
			err = errors.Join(state.Encode(io.Discard, st), err) // it knows the place
		}
		s.failed = &persistence.StorageFailedError{Boundary: b, Err: err}
		if pe, ok := errors.AsType[*durable.PublishError](err); ok {
			s.failed.Published = pe.Published
		}
		if _, ok := errors.AsType[*table.UnsureError](err); ok {
			s.failed.Published = true
		}
		return s.failed
	}
	return nil
}

func (s *Store) save(st *state.State, b persistence.Boundary) error {
	if err := s.connect(); err != nil {
		return err
	}
	next := table.Stamp{Revision: s.revision + 1, Operation: s.cfg.NewID(), Boundary: b}
	if s.c == nil {
		if err := s.publish(st, next); err != nil {
			return err
		}
	} else if err := s.commit(st, next); err != nil {
		return err
	}
	s.revision, s.known = next.Revision, true
	s.base.Remember(st)
	return nil
}

// publish makes the database with its first state in it.
func (s *Store) publish(st *state.State, next table.Stamp) error {
	image, err := s.base.Image(st, next)
	if err != nil {
		return err
	}
	// The database is not durable before the directories on its way are.
	if err := s.root.State.SyncMade(); err != nil {
		return err
	}
	return s.root.State.Publish(StateFile, func(w io.Writer) error {
		_, err := w.Write(image)
		return err
	})
}

func (s *Store) commit(st *state.State, next table.Stamp) error {
	if err := s.settleMark(); err != nil {
		return err
	}
	next.Mark = s.mark
	if err := s.base.Save(s.c, s.cfg.Hook, st, next, !s.known); err != nil {
		return err
	}
	s.afterCommit(next.Boundary)
	return nil
}

// afterCommit keeps the log short. A failure here is no failure of the save, which is
// durable in the log; the next save will meet the cause.
func (s *Store) afterCommit(b persistence.Boundary) {
	if err := s.makeRoom(); err != nil {
		s.log.Debug("log could not be made longer ahead of the saves", "path", s.path, "error", err)
	}
	s.since++
	switch b {
	case persistence.RunFinished, persistence.Compact, persistence.Cancelled, persistence.Shutdown:
	default:
		return
	}
	if s.since < calmSaves {
		return
	}
	s.since = 0
	err := s.ask(LabelCheckpoint, "PASSIVE")
	if err == nil {
		_, err = s.c.Checkpoint("PASSIVE")
	}
	if err != nil {
		s.log.Warn("log was not moved into the database", "path", s.path, "error", err)
	}
}
