package jsonstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/state"
)

// Save replaces the document. See persistence.Store. ctx is not looked at: neither an
// fsync nor a rename can be interrupted, and a boundary that was reached must be saved.
// A state of another session is a *persistence.ForeignSessionError; it does not latch,
// for storage has not failed.
func (s *Store) Save(_ context.Context, st *state.State, b persistence.Boundary) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("save session %s: %w", s.cfg.Root, persistence.ErrClosed)
	}
	if s.failed != nil {
		return s.failed
	}
	if !s.cfg.Policy.Saves(b) {
		return nil
	}
	if err := s.own(st); err != nil {
		return err
	}
	if err := s.publish(st); err != nil {
		s.failed = &persistence.StorageFailedError{Boundary: b, Err: err}
		if pe, ok := errors.AsType[*durable.PublishError](err); ok {
			s.failed.Published = pe.Published
		}
		return s.failed
	}
	return nil
}

func (s *Store) publish(st *state.State) error {
	// The document is not durable before the directories on its way are.
	if err := s.root.State.SyncMade(); err != nil {
		return err
	}
	return s.pub.Publish(func(w io.Writer) error { return s.enc.Encode(w, st) })
}
