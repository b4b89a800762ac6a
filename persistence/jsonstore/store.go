package jsonstore

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sessionroot"
	"simplex/state"
)

const (
	// Format is the store's word in `persistence.format`.
	Format = "json"
	// LockFile is the session lock's name inside the root.
	LockFile = sessionroot.LockFile
	// StateFile is the document's name inside the state directory.
	StateFile = "state.json"

	otherFile = "state.db" // what the SQLite store keeps in the same directory
)

// Config says which session to open.
type Config struct {
	Root      string              // persistence.directory; made (0700) if missing
	StateDir  string              // persistence.state, below Root; "": "state"
	SessionID string              // the id a state must have; "": the first one loaded or saved decides
	Restore   persistence.Restore // "": if_present
	Policy    persistence.Policy

	LockWait time.Duration                           // how long a held lock is tried again; 0: one second; negative: one try
	After    func(d time.Duration) <-chan time.Time  // the timer of that wait; nil: time.After
	Hook     func(label string, op durable.Op) error // fault injection for tests; nil: none
	Logger   *slog.Logger                            // nil: discard
}

// Store is an open session. It is a persistence.Store.
type Store struct {
	cfg  Config
	log  *slog.Logger
	root *sessionroot.Root
	path string

	mu      sync.Mutex
	pub     *durable.Publisher
	enc     *state.Encoder
	session string // the id a state must have; "": not known yet
	failed  *persistence.StorageFailedError
	closed  bool
}

var _ persistence.Store = (*Store)(nil)

// Open takes the session lock and prepares the state directory. Where another process
// holds the lock for the whole wait, the error is a *persistence.InUseError. A state
// directory that cannot be written fails here, before any work that could not be saved.
func Open(cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	root, err := sessionroot.Open(sessionroot.Config{
		Root: cfg.Root, StateDir: cfg.StateDir, LockWait: cfg.LockWait, After: cfg.After, Hook: cfg.Hook,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, log: cfg.Logger, root: root, enc: state.NewEncoder(), session: cfg.SessionID}
	s.path = filepath.Join(root.State.Path(), StateFile)
	if s.pub, err = durable.NewPublisher(root.State, StateFile); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Format is "json".
func (s *Store) Format() string { return Format }

// Path is the document's path.
func (s *Store) Path() string { return s.path }

// own checks that st belongs to the store's session, or makes it the store's.
func (s *Store) own(st *state.State) error {
	if s.session == "" {
		s.session = st.Meta.SessionID
	}
	if st.Meta.SessionID != s.session {
		return &persistence.ForeignSessionError{Path: s.Path(), Want: s.session, Got: st.Meta.SessionID}
	}
	return nil
}

// Close releases the session lock. See persistence.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("close session %s: %w", s.cfg.Root, persistence.ErrClosed)
	}
	s.closed = true
	s.pub.Close()
	return s.root.Close()
}
