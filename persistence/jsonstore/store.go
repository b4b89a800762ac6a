package jsonstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/state"
)

const (
	// Format is the store's word in `persistence.format`.
	Format = "json"
	// LockFile is the session lock's name inside the root.
	LockFile = "session.lock"
	// StateFile is the document's name inside the state directory.
	StateFile = "state.json"

	defaultStateDir = "state"
	defaultLockWait = time.Second
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
	cfg     Config
	log     *slog.Logger
	root    *durable.Dir
	dir     *durable.Dir // the state directory
	release func() error // of the session lock

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
	if cfg.StateDir == "" {
		cfg.StateDir = defaultStateDir
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{cfg: cfg, log: cfg.Logger, enc: state.NewEncoder(), session: cfg.SessionID}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	return s, nil
}

func (s *Store) open() error {
	var err error
	if s.root, err = (durable.Ops{Hook: s.cfg.Hook}).OpenDir(s.cfg.Root); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	if s.release, err = s.lock(); err != nil {
		return err
	}
	if s.dir, err = s.root.Sub(s.cfg.StateDir); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	if err := s.dir.CheckWritable(); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	if err := s.dir.RemoveStale(); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	s.pub, err = durable.NewPublisher(s.dir, StateFile)
	return err
}

// lock waits no longer than LockWait, so it needs no way to be cancelled.
func (s *Store) lock() (func() error, error) {
	wait := s.cfg.LockWait
	if wait == 0 {
		wait = defaultLockWait
	}
	release, err := s.root.Lock(context.Background(), durable.LockConfig{Name: LockFile, Wait: wait, After: s.cfg.After})
	if held, ok := errors.AsType[*durable.LockedError](err); ok {
		return nil, &persistence.InUseError{Root: s.cfg.Root, Holder: held.Holder.String(), Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", s.cfg.Root, err)
	}
	return release, nil
}

// Format is "json".
func (s *Store) Format() string { return Format }

// Path is the document's path.
func (s *Store) Path() string { return filepath.Join(s.dir.Path(), StateFile) }

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
	return s.shut()
}

// shut gives back what open got; the lock goes last, when nothing can write any more.
func (s *Store) shut() error {
	var errs []error
	for _, dir := range []*durable.Dir{s.dir, s.root} {
		if dir != nil {
			errs = append(errs, dir.Close())
		}
	}
	if s.release != nil {
		errs = append(errs, s.release())
	}
	return errors.Join(errs...)
}
