package persistence

import (
	"context"

	"simplex/state"
)

// Store keeps one session. Its methods may be called from several goroutines; saves
// happen one after the other.
type Store interface {
	// Load gives the saved session, or nil, nil where there is none (or where the
	// configuration says not to restore). What cannot be read whole is a *CorruptError
	// and another session's state a *ForeignSessionError; the files stay as they are.
	Load(ctx context.Context) (*state.State, error)

	// Save makes st durable before it returns. At a boundary that the Policy skips it
	// returns nil and writes nothing. A cancelled ctx does not stop it: a boundary that
	// was reached has to be on disk. The first failure is final: it and every later Save
	// return an error that is ErrStorageFailed.
	Save(ctx context.Context, st *state.State, b Boundary) error

	// Format is the word that stands for the store in `persistence.format`.
	Format() string

	// Close ends the ownership of the session root. It saves nothing. Later calls are
	// ErrClosed.
	Close() error
}

// Restore says what Load does with a session that is there (worker-data.md §2.10).
type Restore string

const (
	// RestoreIfPresent loads it; the zero value means the same.
	RestoreIfPresent Restore = "if_present"
	// RestoreNever starts anew. The session on disk stays there, readable, until the
	// first save replaces it; Load writes a warning to the log that names the file.
	RestoreNever Restore = "never"
)
