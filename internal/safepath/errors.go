package safepath

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

var (
	// ErrLink: a component is a symbolic link.
	ErrLink = errors.New("is a symbolic link")
	// ErrNotDir: a component that must be a directory is something else.
	ErrNotDir = errors.New("is not a directory")
	// ErrMount: another file system or a bind mount is in the way.
	ErrMount = errors.New("is a mount point")
	// ErrName: a name is not one plain component.
	ErrName = errors.New("is not one path component")
	// ErrTooLarge: a file has more bytes than its reader takes.
	ErrTooLarge = errors.New("is too large")
	// ErrMoved: a directory was renamed or replaced after it was opened.
	ErrMoved = errors.New("was moved or replaced meanwhile")
)

// Error tells which path a call was about. errors.Is finds the errno and, where one
// fits, a sentinel of this package or durable.ErrNotRegular, ErrLocked or
// ErrLockUnsupported.
type Error struct {
	Call string // "open directory", "lock", …
	Path string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s %q: %v", e.Call, e.Path, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// meaning adds the sentinel for an errno of opening a directory.
func dirError(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf("%w: %w", ErrLink, err)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%w: %w", ErrNotDir, err)
	case errors.Is(err, unix.EXDEV):
		return fmt.Errorf("%w: %w", ErrMount, err)
	}
	return err
}

// fileError adds the sentinel for an errno of opening a file.
func fileError(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf("%w: %w", ErrLink, err)
	case errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%w: %w", durable.ErrNotRegular, err)
	}
	return err
}
