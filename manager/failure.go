package manager

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/protocol"
)

var (
	errPanic     = errors.New("internal error")
	errDeleting  = errors.New("the removal is not complete; repeat it") // after the tombstone
	errForeign   = errors.New("the directory there is not the one that was prepared")
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
	{errUnmanaged, protocol.UnmanagedDirectory},
	{errRecord, protocol.CorruptRecord},
	{errRecordVersion, protocol.UnsupportedVersion},
	{safepath.ErrMount, protocol.MountInside},
	{safepath.ErrMoved, protocol.Busy},
	{durable.ErrLocked, protocol.Busy},
	{durable.ErrLockUnsupported, protocol.LockingUnsupported},
	{safepath.ErrLink, protocol.UnsafePath},
	{safepath.ErrNotDir, protocol.UnsafePath},
	{durable.ErrNotRegular, protocol.UnsafePath},
	{unix.EACCES, protocol.PermissionDenied},
	{unix.ENAMETOOLONG, protocol.InvalidRequest},
}

// failure turns any error into the peer's. Messages name paths of the request's own
// tree, never what a file holds.
func (s *session) failure(err error) *protocol.Error {
	out, ok := errors.AsType[*protocol.Error](err)
	if !ok {
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
