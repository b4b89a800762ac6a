package persistence

import (
	"errors"
	"fmt"
	"syscall"

	"simplex/internal/durable"
)

var (
	// ErrInUse: another process has the session root open. See InUseError.
	ErrInUse = errors.New("session is in use")
	// ErrStorageFailed: a save failed, now or earlier; nothing is written any more.
	// See StorageFailedError.
	ErrStorageFailed = errors.New("storage failed")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

// InUseError says who has the session, as far as the kernel tells.
type InUseError struct {
	Root   string // the session root
	Holder string // for a person, such as "process 812 (simplex)"
	Err    error
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("session %s is in use by %s", e.Root, e.Holder)
}

// Is makes errors.Is(err, ErrInUse) true.
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

func (e *InUseError) Unwrap() error { return e.Err }

// CorruptError: a saved session is there and cannot be read whole. Nothing was changed.
type CorruptError struct {
	Path string // the file
	Cut  bool   // it is good as far as it goes, and ends too early
	Err  error  // what is wrong with it, with its place where that is known
}

func (e *CorruptError) Error() string {
	fault := "cannot be read"
	if e.Cut {
		fault = "is cut off"
	}
	return fmt.Sprintf("saved session %s %s: %v; the file was left as it is", e.Path, fault, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// ForeignSessionError: the state belongs to another session than the store.
type ForeignSessionError struct {
	Path string // the file
	Want string // the store's session id
	Got  string // the state's meta.session_id
}

func (e *ForeignSessionError) Error() string {
	return fmt.Sprintf("%s holds session %q, not session %q: give --session %s, or another persistence.directory", e.Path, e.Got, e.Want, e.Got)
}

// OtherFormatError: nothing is saved in the store's own format, but a session of the
// other one is there. Starting anew would look like a loss, so somebody has to decide.
type OtherFormatError struct {
	Path   string // the file that is there
	Format string // its format
	Want   string // the store's format
}

func (e *OtherFormatError) Error() string {
	command := "import"
	if e.Want == "json" {
		command = "export"
	}
	return fmt.Sprintf("session is saved as %s in %s and not as %s: convert it with `simplex state %s --config FILE --session ID`, or set persistence.format to %s",
		e.Format, e.Path, e.Want, command, e.Format)
}

// StorageFailedError is the first save that failed.
type StorageFailedError struct {
	Boundary  Boundary // where it failed
	Published bool     // the state may be on disk all the same
	Err       error
}

func (e *StorageFailedError) Error() string {
	text := "storage failed: " + e.reason()
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		text += "; make room and start again"
	}
	return text
}

// reason is what a person can do something about; which call failed is in Err.
func (e *StorageFailedError) reason() string {
	failed, ok := errors.AsType[*durable.PublishError](e.Err)
	if !ok {
		return e.Err.Error()
	}
	cause := failed.Err
	if errno, ok := errors.AsType[syscall.Errno](cause); ok {
		cause = errno
	}
	if failed.Published {
		return fmt.Sprintf("%s is written, but may not survive a power cut: %v", failed.Path, cause)
	}
	return fmt.Sprintf("cannot save %s: %v", failed.Path, cause)
}

// Is makes errors.Is(err, ErrStorageFailed) true.
func (e *StorageFailedError) Is(target error) bool { return target == ErrStorageFailed }

func (e *StorageFailedError) Unwrap() error { return e.Err }
