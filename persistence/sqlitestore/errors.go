package sqlitestore

import (
	"errors"
	"fmt"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
)

var (
	// ErrNoState: there is no database at that path. Read only; Load says nil, nil.
	ErrNoState = errors.New("no saved session")
	// ErrBusy: another program held a lock on the database for the whole wait.
	ErrBusy = sqlite.ErrBusy
	// ErrReadOnly: the database or its directory cannot be written.
	ErrReadOnly = sqlite.ErrReadOnly
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
	return fmt.Sprintf("database %s has schema version %d, this program knows version %d; it was left as it is", e.Path, e.Got, table.Version)
}
