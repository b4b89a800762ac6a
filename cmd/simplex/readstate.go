package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/manager"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
)

// readAttempts bounds how often a read is repeated that a worker's start or end disturbed.
const readAttempts = 5

// sqliteReader gives the manager the state of a SQLite allocation.
type sqliteReader struct{}

// ReadState implements manager.StateReader. The state waits in a file without a name
// until it is known to be whole: a response cannot be taken back. Where the temporary
// directory has no place for it, it waits in memory.
func (sqliteReader) ReadState(ctx context.Context, path string, opened func() error) (manager.Snapshot, error) {
	var failures []error
	for _, open := range []func() (*os.File, error){spoolOnDisk, spoolInMemory} {
		snap, err := readInto(ctx, path, opened, open)
		if err == nil {
			return snap, nil
		}
		failures = append(failures, err)
		if !errors.Is(err, errSpool) && !errors.Is(err, unix.ENOSPC) {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// errSpool: there is no place for the spool.
var errSpool = errors.New("temporary file")

// spoolOnDisk makes a file that never has a name, so that no kill leaves one behind.
func spoolOnDisk() (*os.File, error) {
	fd, err := unix.Open(os.TempDir(), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w in %s: %w", errSpool, os.TempDir(), err)
	}
	return os.NewFile(uintptr(fd), "state"), nil
}

func spoolInMemory() (*os.File, error) {
	fd, err := unix.MemfdCreate("simplex-state", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("%w in memory: %w", errSpool, err)
	}
	return os.NewFile(uintptr(fd), "state"), nil
}

func readInto(ctx context.Context, path string, opened func() error, open func() (*os.File, error)) (manager.Snapshot, error) {
	spool, err := open()
	if err != nil {
		return nil, err
	}
	info, err := readDatabase(ctx, path, opened, spool)
	if err != nil {
		return nil, errors.Join(classify(err), spool.Close())
	}
	return &sqliteSnapshot{spool: spool, info: info}, nil
}

func readDatabase(ctx context.Context, path string, opened func() error, spool *os.File) (sqlitestore.Info, error) {
	for attempt := 1; ; attempt++ {
		out := bufio.NewWriterSize(spool, manageBuffer)
		info, err := sqlitestore.ReadOpened(ctx, path, opened, out)
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
	switch {
	case errors.Is(err, durable.ErrNotRegular): // a link, or the like
		return err
	case errors.Is(err, sqlitestore.ErrNoState):
		return fmt.Errorf("%w: %w", manager.ErrNoState, err)
	case errors.Is(err, sqlitestore.ErrBusy), errors.Is(err, sqlitestore.ErrChanged):
		return fmt.Errorf("%w: %w", manager.ErrStateBusy, err)
	}
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
