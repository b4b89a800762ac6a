package manager

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

var (
	errPanic     = errors.New("internal error")
	errDeleting  = errors.New("the removal is not complete; repeat it") // after the tombstone
	errForeign   = errors.New("the directory there is not the one that was prepared")
	errLost      = errors.New("the directory that was prepared is not there; put it back, or remove the allocation")
	errUnmanaged = errors.New("something that is not managed is there already")
)

// codes maps causes to error codes; the first that fits counts.
var codes = [...]struct {
	cause error
	code  protocol.Code
}{
	{errPanic, protocol.Internal},
	{errDeleting, protocol.IOError},
	{errForeign, protocol.OwnershipMismatch},
	{errLost, protocol.OwnershipMismatch},
	{errUnmanaged, protocol.UnmanagedDirectory},
	{record.ErrDamaged, protocol.CorruptRecord},
	{record.ErrVersion, protocol.UnsupportedVersion},
	{safepath.ErrMount, protocol.MountInside},
	{safepath.ErrMoved, protocol.Busy},
	{ErrStateBusy, protocol.Busy},
	{durable.ErrLocked, protocol.Busy},
	{durable.ErrLockUnsupported, protocol.LockingUnsupported},
	{safepath.ErrLink, protocol.UnsafePath},
	{safepath.ErrNotDir, protocol.UnsafePath},
	{durable.ErrNotRegular, protocol.UnsafePath},
	{unix.EACCES, protocol.PermissionDenied},
	{unix.ENAMETOOLONG, protocol.InvalidRequest},
}

// sourceError is about the parent of a fork: "removed" said of it must not be taken for
// the child's.
type sourceError struct{ err error }

func (e *sourceError) Error() string {
	if inner, ok := errors.AsType[*protocol.Error](e.err); ok {
		return "source: " + inner.Message
	}
	return "source: " + e.err.Error()
}

func (e *sourceError) Unwrap() error { return e.err }

// failure turns any error into the peer's. Messages name paths of the request's own
// tree, never what a file holds.
func (s *session) failure(err error) *protocol.Error {
	out, ok := errors.AsType[*protocol.Error](err)
	switch about, other := errors.AsType[*sourceError](err); {
	case ok && other:
		out = protocol.NewError(out.Code, about.Error())
	case !ok:
		out = protocol.NewError(codeOf(err), err.Error())
	}
	if out.Published == nil && s.locked {
		out.Published = new(s.published)
	}
	return out
}

func codeOf(err error) protocol.Code {
	for _, c := range codes {
		if errors.Is(err, c.cause) {
			return c.code
		}
	}
	return protocol.IOError
}

// refuse makes an error of the contract.
func refuse(code protocol.Code, message string) error { return protocol.NewError(code, message) }

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func notFound() error {
	return refuse(protocol.NotFound, "no such allocation: nothing was ever prepared there")
}

// causeCode is the code that err would be answered with.
func causeCode(err error) protocol.Code {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return codeOf(err)
}
