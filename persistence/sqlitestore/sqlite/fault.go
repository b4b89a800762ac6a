package sqlite

import (
	"errors"
	"fmt"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/persistence"
)

var (
	// ErrBusy: another program held a lock on the database for the whole wait.
	ErrBusy = errors.New("database is locked by another program")
	// ErrReadOnly: the database or its directory cannot be written.
	ErrReadOnly = errors.New("database is read-only")
	// ErrShape is wrapped by whatever does not fit the schema's meaning.
	ErrShape = errors.New("its rows do not make a session")
)

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
		return Corrupt(path, err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("database %s: %w: %w", path, ErrBusy, err)
	case sqlite3.ErrFull:
		return fmt.Errorf("database %s: %w: %w", path, syscall.ENOSPC, err)
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return fmt.Errorf("database %s: %w: %w", path, ErrReadOnly, err)
	}
	return fmt.Errorf("database %s: %w", path, err)
}

// Corrupt tells that the database at path is damaged, in the way of err.
func Corrupt(path string, err error) error { return &persistence.CorruptError{Path: path, Err: err} }
