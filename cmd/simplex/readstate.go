package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"simplex/manager"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
)

// readAttempts bounds how often a read is repeated that a worker's start or end disturbed.
const readAttempts = 5

// sqliteReader gives the manager the state of a SQLite allocation.
type sqliteReader struct{}

// ReadState implements manager.StateReader. The state waits in a file without a name
// until it is known to be whole: a response cannot be taken back.
func (sqliteReader) ReadState(ctx context.Context, path string) (manager.Snapshot, error) {
	spool, err := os.CreateTemp("", "simplex-state-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spool.Name()); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	info, err := readDatabase(ctx, path, spool)
	if err != nil {
		return nil, errors.Join(classify(err), spool.Close())
	}
	return &sqliteSnapshot{spool: spool, info: info}, nil
}

func readDatabase(ctx context.Context, path string, spool *os.File) (sqlitestore.Info, error) {
	for attempt := 1; ; attempt++ {
		out := bufio.NewWriterSize(spool, manageBuffer)
		info, err := sqlitestore.Read(ctx, path, out)
		if err == nil {
			return info, out.Flush()
		}
		if !errors.Is(err, sqlitestore.ErrChanged) || attempt == readAttempts {
			return info, err
		}
		if err := spool.Truncate(0); err != nil {
			return info, err
		}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return info, err
		}
	}
}

// classify tells the manager's kinds of failure apart.
func classify(err error) error {
	if _, ok := errors.AsType[*sqlitestore.SchemaError](err); ok || errors.Is(err, sqlitestore.ErrJournalMode) {
		return fmt.Errorf("%w: %w", manager.ErrStateSchema, err)
	}
	if _, ok := errors.AsType[*persistence.CorruptError](err); ok {
		return fmt.Errorf("%w: %w", manager.ErrStateCorrupt, err)
	}
	return err
}

// sqliteSnapshot is one state that was read whole.
type sqliteSnapshot struct {
	spool *os.File
	info  sqlitestore.Info
}

func (s *sqliteSnapshot) WriteState(w io.Writer) error {
	if _, err := s.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.spool)
	return err
}

func (s *sqliteSnapshot) Revision() *uint64 {
	revision := uint64(s.info.Revision)
	return &revision
}

func (s *sqliteSnapshot) OperationID() *string {
	if s.info.OperationID == "" {
		return nil
	}
	return &s.info.OperationID
}

func (s *sqliteSnapshot) Close() error { return s.spool.Close() }
