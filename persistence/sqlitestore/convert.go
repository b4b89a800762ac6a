package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore/table"
	"simplex/state"
)

// Import makes the database of the session whose state.json cfg's JSON store would load,
// under the session lock. Neither document nor database may be missing or there,
// respectively: persistence errors of Load, ErrNoState, ErrExists. The document stays;
// from then on this store ignores it. Restore and Policy are not looked at.
func Import(ctx context.Context, cfg Config) error {
	cfg.Restore, cfg.Policy = "", persistence.Policy{}
	src, err := jsonstore.Open(jsonstore.Config{
		Root: cfg.Root, StateDir: cfg.StateDir, SessionID: cfg.SessionID,
		LockWait: cfg.LockWait, After: cfg.After, Hook: cfg.Hook, Logger: cfg.Logger,
	})
	if err != nil {
		return err
	}
	st, err := src.Load(ctx)
	if _, other := errors.AsType[*persistence.OtherFormatError](err); other {
		err = nil // the document is missing; that a database is there is told below
	}
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	dst, err := Open(cfg)
	if err != nil {
		return err
	}
	return errors.Join(dst.importState(st), dst.Close())
}

func (s *Store) importState(st *state.State) error {
	seen, err := look(s.path)
	switch {
	case err != nil:
		return err
	case seen.database != nil || seen.logged():
		return fmt.Errorf("import to %s: %w", s.path, ErrExists)
	case st == nil:
		return fmt.Errorf("import to %s: %w", s.path, ErrNoState)
	}
	return s.publish(st, table.Stamp{Revision: 1, Operation: s.cfg.NewID(), Boundary: persistence.Shutdown})
}

// Export writes the session in cfg's database as the document of the JSON store beside
// it, under the session lock. Errors: those of Load, ErrNoState, ErrExists. The database
// stays as it is.
func Export(ctx context.Context, cfg Config) error {
	cfg.Restore = ""
	src, err := Open(cfg)
	if err != nil {
		return err
	}
	return errors.Join(src.export(ctx), src.Close())
}

func (s *Store) export(ctx context.Context) error {
	path := filepath.Join(s.root.State.Path(), otherFile)
	if s.root.State.Exists(otherFile) {
		return fmt.Errorf("export to %s: %w", path, ErrExists)
	}
	st, err := s.Load(ctx)
	if err == nil && st == nil {
		err = fmt.Errorf("export to %s: %w", path, ErrNoState)
	}
	if err != nil {
		return err
	}
	return s.root.State.Publish(otherFile, func(w io.Writer) error { return state.Encode(w, st) })
}
