package sqlitestore

import (
	"errors"
	"fmt"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/persistence"
)

var (
	// ErrNoState: there is no database at that path. Read only; Load says nil, nil.
	ErrNoState = errors.New("no saved session")
	// ErrBusy: another program held a lock on the database for the whole wait.
	ErrBusy = errors.New("database is locked by another program")
	// ErrReadOnly: the database or its directory cannot be written.
	ErrReadOnly = errors.New("database is read-only")
	// ErrJournalMode: the database is not in WAL mode, so somebody converted it.
	ErrJournalMode = errors.New("database is not in WAL mode")
	// ErrMissingLog: saves may stand in a write-ahead log that is gone.
	ErrMissingLog = errors.New("its write-ahead log is missing, and the last owner did not close it; after checkpointing by hand: UPDATE session SET open = 0")
	// ErrForeignLog: the write-ahead log beside the database belongs to another copy of it.
	ErrForeignLog = errors.New("its write-ahead log belongs to another copy of it")
	// ErrMissingDatabase: a write-ahead log is there, the database is not.
	ErrMissingDatabase = errors.New("its database is missing, only the write-ahead log is there")
	// ErrNeedsOwner: a killed owner's log can be read only after a file is made, which
	// a reader does not do. The next start of the worker does.
	ErrNeedsOwner = errors.New("database must first be opened by its worker")
	// ErrChanged: the database was opened or changed while it was read. Read it again.
	ErrChanged = errors.New("database changed while it was read")
	// ErrExists: Import and Export overwrite nothing.
	ErrExists = errors.New("already exists")
)

// SchemaError: the database has tables of another version, or none of ours at all.
type SchemaError struct {
	Path  string
	Got   int  // its version; 0: unknown
	Empty bool // the file is empty
}

func (e *SchemaError) Error() string {
	if e.Empty {
		return fmt.Sprintf("database %s is an empty file; it was left as it is", e.Path)
	}
	return fmt.Sprintf("database %s has schema version %d, this program knows version %d; it was left as it is", e.Path, e.Got, SchemaVersion)
}

// systemFault lets the errno behind an error of SQLite be asked for.
type systemFault struct{ cause sqlite3.Error }

func (e *systemFault) Error() string   { return e.cause.Error() } // which tells the errno
func (e *systemFault) Unwrap() []error { return []error{e.cause, e.cause.SystemErrno} }

// fault gives an error of SQLite the type by which callers decide.
func fault(path string, err error) error {
	var bad sqlite3.Error
	if err == nil || !errors.As(err, &bad) {
		return err
	}
	if bad.SystemErrno != 0 {
		err = &systemFault{bad}
	}
	switch bad.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		return corrupt(path, err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("database %s: %w: %w", path, ErrBusy, err)
	case sqlite3.ErrFull:
		return fmt.Errorf("database %s: %w: %w", path, syscall.ENOSPC, err)
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return fmt.Errorf("database %s: %w: %w", path, ErrReadOnly, err)
	}
	return fmt.Errorf("database %s: %w", path, err)
}

func corrupt(path string, err error) error { return &persistence.CorruptError{Path: path, Err: err} }
