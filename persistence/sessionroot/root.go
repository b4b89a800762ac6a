// Package sessionroot opens a session's directories for the one process that may write
// there: the root, its lock session.lock, and the state directory (worker-data.md §1.12,
// decision 9.15).
//
// It owns the order of that: nothing in the state directory is touched before the lock
// is held, and the lock is given up last. It knows no format.
//
// It refuses: a second owner, a state directory behind a symbolic link, one that cannot
// be written.
package sessionroot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"simplex/internal/durable"
	"simplex/persistence"
)

const (
	// LockFile is the session lock's name inside the root.
	LockFile = "session.lock"

	defaultStateDir = "state"
	defaultLockWait = time.Second
)

// Config says which session to open.
type Config struct {
	Root     string // persistence.directory; made (0700) if missing
	StateDir string // persistence.state, below Root; "": "state"

	LockWait time.Duration                          // how long a held lock is tried again; 0: one second; negative: one try
	After    func(d time.Duration) <-chan time.Time // the timer of that wait; nil: time.After
	Hook     durable.Hook                           // fault injection for tests; nil: none
}

// Root is a session whose lock this process holds. Its methods are for one goroutine.
type Root struct {
	State *durable.Dir // the state directory; Root closes it

	root    *durable.Dir
	release func() error
}

// Open takes the lock, opens the state directory and removes what killed writers left in
// it. Where another process holds the lock for the whole wait, the error is a
// *persistence.InUseError. A state directory that cannot be written fails here, before
// any work that could not be saved.
func Open(cfg Config) (*Root, error) {
	if cfg.StateDir == "" {
		cfg.StateDir = defaultStateDir
	}
	r := &Root{}
	if err := r.open(cfg); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Root) open(cfg Config) error {
	var err error
	if r.root, err = (durable.Ops{Hook: cfg.Hook}).OpenDir(cfg.Root); err != nil {
		return unopened(cfg.Root, err)
	}
	if r.release, err = lock(r.root, cfg); err != nil {
		return err
	}
	if r.State, err = r.root.Sub(cfg.StateDir); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	if err := r.State.CheckWritable(); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	if err := r.State.RemoveStale(); err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	return nil
}

// unopened says at which directory of the path opening root failed, and why: the one
// that is there and does not let the next one be made.
func unopened(root string, err error) error {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return fmt.Errorf("open session: %w", err)
	}
	there := filepath.Clean(root)
	for there != filepath.Dir(there) {
		if _, err := os.Lstat(there); err == nil {
			break
		}
		there = filepath.Dir(there)
	}
	if there == filepath.Clean(root) {
		return &os.PathError{Op: "open session directory", Path: root, Err: errno}
	}
	return fmt.Errorf("the session directory %s cannot be made in %s: %w", root, there, errno)
}

// lock waits no longer than LockWait, so it needs no way to be cancelled.
func lock(root *durable.Dir, cfg Config) (func() error, error) {
	wait := cfg.LockWait
	if wait == 0 {
		wait = defaultLockWait
	}
	release, err := root.Lock(context.Background(), durable.LockConfig{Name: LockFile, Wait: wait, After: cfg.After})
	if held, ok := errors.AsType[*durable.LockedError](err); ok {
		return nil, &persistence.InUseError{Root: cfg.Root, Holder: held.Holder.String(), Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", cfg.Root, err)
	}
	return release, nil
}

// Close gives everything back; the lock goes last, when nothing can write any more. Only
// the first call counts.
func (r *Root) Close() error {
	var errs []error
	for _, dir := range []*durable.Dir{r.State, r.root} {
		if dir != nil {
			errs = append(errs, dir.Close())
		}
	}
	if r.release != nil {
		errs = append(errs, r.release())
	}
	r.State, r.root, r.release = nil, nil, nil
	return errors.Join(errs...)
}
