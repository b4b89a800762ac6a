package sqlitestore

import (
	"context"
	"fmt"
	"path/filepath"

	"simplex/persistence"
	"simplex/state"
)

// Load reads the session. See persistence.Store. What it refuses is told apart by
// *persistence.CorruptError (with ErrMissingLog, ErrForeignLog, ErrMissingDatabase or
// durable.ErrNotRegular inside), *SchemaError, ErrJournalMode, ErrBusy, ErrReadOnly,
// *persistence.ForeignSessionError and *persistence.OtherFormatError.
func (s *Store) Load(ctx context.Context) (*state.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable("load"); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("load session %s: %w", s.cfg.Root, err)
	}
	never := s.cfg.Restore == persistence.RestoreNever
	if err := s.connect(); err != nil {
		return nil, err
	}
	if s.c == nil {
		return nil, s.elsewhere(never)
	}
	if never {
		if err := s.ownLog(s.c); err != nil {
			return nil, err
		}
		s.log.Warn("session is not restored; the first save replaces it", "path", s.path)
		return nil, nil
	}
	return s.load()
}

// elsewhere refuses to begin anew beside a session that the other format keeps.
func (s *Store) elsewhere(never bool) error {
	if never || !s.root.State.Exists(otherFile) {
		return nil
	}
	return &persistence.OtherFormatError{Path: filepath.Join(s.root.State.Path(), otherFile), Format: otherFormat, Want: Format}
}
