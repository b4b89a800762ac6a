package durable

import (
	"errors"
	"fmt"
)

var (
	// ErrNoWriter: Publish was called without a callback. No file was touched.
	ErrNoWriter = errors.New("no content callback")
	// ErrBadName: a destination, lock or directory name is not a plain relative one.
	ErrBadName = errors.New("not a plain name")
	// ErrNotRegular: a link, directory, FIFO, socket or device stands where a regular
	// file is wanted.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLocked: another open file description holds the lock. See LockedError.
	ErrLocked = errors.New("locked by another holder")
	// ErrLockUnsupported: the file system cannot give an exclusive lock that counts.
	ErrLockUnsupported = errors.New("locking is not supported here")
	// ErrClosed: the directory was closed.
	ErrClosed = errors.New("already closed")
)

// PublishError tells where a publication failed.
type PublishError struct {
	Path      string // the destination
	Step      string // the label of the step that failed
	Published bool   // whether the new content is visible; false: the old content is as it was
	Err       error
}

func (e *PublishError) Error() string {
	if e.Published {
		return fmt.Sprintf("publish %s: %s: new content is visible, but perhaps not durable: %v", e.Path, e.Step, e.Err)
	}
	return fmt.Sprintf("publish %s: %s: %v", e.Path, e.Step, e.Err)
}

func (e *PublishError) Unwrap() error { return e.Err }

// Holder is what the kernel tells about the owner of a lock. It is information for a
// person only: numbers are reused, so nobody may act on it.
type Holder struct {
	PID     int    // 0: not known
	Command string // the short command name, "" if not known; never arguments
}

func (h Holder) String() string {
	switch {
	case h.PID == 0:
		return "an unknown holder"
	case h.Command == "":
		return fmt.Sprintf("process %d", h.PID)
	}
	return fmt.Sprintf("process %d (%s)", h.PID, h.Command)
}

// LockedError is the ErrLocked of one lock file.
type LockedError struct {
	Path   string
	Holder Holder
}

func (e *LockedError) Error() string { return fmt.Sprintf("lock %s: held by %s", e.Path, e.Holder) }

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }
