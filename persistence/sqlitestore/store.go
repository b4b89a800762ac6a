package sqlitestore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sessionroot"
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
	"simplex/state"
)

const (
	// Format is the store's word in `persistence.format`.
	Format = "sqlite"
	// StateFile is the database's name inside the state directory.
	StateFile = "state.db"

	otherFile   = "state.json" // what the JSON store keeps in the same directory
	otherFormat = "json"
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
	NewID    func() string                           // makes operation ids; nil: random text
	Logger   *slog.Logger                            // nil: discard
}

// Store is an open session. It is a persistence.Store.
type Store struct {
	cfg  Config
	log  *slog.Logger
	root *sessionroot.Root
	path string

	mu       sync.Mutex
	c        *sqlite.Conn // nil: not opened yet, or no database is there
	base     table.Base
	known    bool  // base is what the tables hold
	revision int64 // of the last save
	mark     table.Mark
	since    int    // saves since the last checkpoint
	room     int64  // size of the log up to which it need not grow, in bytes
	session  string // the id a state must have; "": not known yet
	failed   *persistence.StorageFailedError
	closed   bool
}

var _ persistence.Store = (*Store)(nil)

// Open takes the session lock and prepares the state directory; the database is opened
// by Load or by the first Save. Where another process holds the lock for the whole wait,
// the error is a *persistence.InUseError. A state directory that cannot be written fails
// here.
func Open(cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	root, err := sessionroot.Open(sessionroot.Config{
		Root: cfg.Root, StateDir: cfg.StateDir, LockWait: cfg.LockWait, After: cfg.After, Hook: cfg.Hook,
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root.State.Path(), StateFile)
	return &Store{cfg: cfg, log: cfg.Logger, root: root, path: path, session: cfg.SessionID}, nil
}

// Format is "sqlite".
func (s *Store) Format() string { return Format }

// Path is the database's path.
func (s *Store) Path() string { return s.path }

// own checks that st belongs to the store's session, or makes it the store's.
func (s *Store) own(id string) error {
	if s.session == "" {
		s.session = id
	}
	if id != s.session {
		return &persistence.ForeignSessionError{Path: s.path, Want: s.session, Got: id}
	}
	return nil
}

// Close takes the mark of an open session away, moves the log into the database, lets
// SQLite remove the log and releases the session lock. See persistence.Store. After a
// failed save the files stay as that left them.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("close session %s: %w", s.cfg.Root, persistence.ErrClosed)
	}
	s.closed = true
	var err error
	if s.c != nil {
		err = s.disconnect()
	}
	return errors.Join(err, s.root.Close())
}

func (s *Store) usable(verb string) error {
	if s.closed {
		return fmt.Errorf("%s session %s: %w", verb, s.cfg.Root, persistence.ErrClosed)
	}
	return nil
}

// load gives the saved state and makes it the base of the next save.
func (s *Store) load() (*state.State, error) {
	if err := s.c.Run(sqlite.BeginRead); err != nil {
		return nil, err
	}
	defer func() { _ = s.c.Run(sqlite.Rollback) }()
	h, err := table.ReadHead(s.c)
	if err != nil {
		return nil, err
	}
	if err := s.own(h.State.Meta.SessionID); err != nil {
		return nil, err
	}
	if err := s.base.Load(s.c, h); err != nil {
		return nil, err
	}
	s.revision, s.known = h.Revision, true
	return h.State, nil
}
