package durable

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// maxInterrupts bounds how often one call is tried again after EINTR.
const maxInterrupts = 1000

// Call is the kind of system call that an Op stands for.
type Call string

// The calls that pass through the seam.
const (
	CallOpen   Call = "open"
	CallMkdir  Call = "mkdir"
	CallAccess Call = "access"
	CallChmod  Call = "chmod"
	CallStat   Call = "stat"
	CallRead   Call = "read"
	CallWrite  Call = "write"
	CallFsync  Call = "fsync"
	CallClose  Call = "close"
	CallRename Call = "rename"
	CallUnlink Call = "unlink"
	CallFlock  Call = "flock"
)

// The labels name every place where a failure or a kill could do harm, in the order
// in which an open, a load and a publication pass them.
const (
	LabelDirOpen   = "dir.open"   // a directory is opened
	LabelDirMake   = "dir.make"   // a missing directory is made
	LabelDirAccess = "dir.access" // a directory is asked whether it can be written
	LabelDirSync   = "dir.sync"   // the parent of a new directory is fsynced

	LabelLockOpen  = "lock.open"  // the lock file is opened or made
	LabelLockStat  = "lock.stat"  // its type and inode are read
	LabelLockTake  = "lock.take"  // flock
	LabelLockCheck = "lock.check" // is the name still that inode?

	LabelTempsList   = "temps.list"   // the directory is searched for a killed writer's files
	LabelTempsRemove = "temps.remove" // one of them is removed

	LabelReadOpen = "read.open"
	LabelReadStat = "read.stat"
	LabelReadData = "read.data"

	LabelCreate  = "publish.create" // the temporary file is made
	LabelMode    = "publish.mode"   // its mode is set to 0600
	LabelWrite   = "publish.write"  // one write call
	LabelSync    = "publish.sync"   // fsync of the file
	LabelClose   = "publish.close"
	LabelRename  = "publish.rename"   // the commit point: before it the old content, after it the new
	LabelSyncDir = "publish.sync-dir" // fsync of the directory
	LabelDiscard = "publish.discard"  // removal of the temporary file after a failure
)

// Op describes the system call that is about to be made.
type Op struct {
	Call Call
	Name string // the file's name inside its directory, or the directory's path
}

// Hook is asked before each labelled system call. An error takes the place of the call,
// which is not made: an EINTR is retried like the kernel's own. A ShortWrite is obeyed.
// A hook may also end the process. It runs on the caller's goroutine.
type Hook func(label string, op Op) error

// ShortWrite, returned by a Hook for a write, lets only that many bytes through.
type ShortWrite int

func (s ShortWrite) Error() string { return fmt.Sprintf("short write of %d bytes", int(s)) }

// Ops makes the system calls. Its zero value is what production uses.
type Ops struct {
	Hook Hook // nil: no fault is injected
}

func (o Ops) ask(label string, op Op) error {
	if o.Hook == nil {
		return nil
	}
	return o.Hook(label, op)
}

// do makes one call, again after EINTR. Raw unix calls do not retry by themselves.
func (o Ops) do(label string, op Op, call func() error) error {
	for range maxInterrupts {
		err := o.ask(label, op)
		if err == nil {
			err = call()
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return unix.EINTR
}

func (o Ops) openat(label string, dirfd int, name string, flags int, mode uint32) (int, error) {
	fd := -1
	err := o.do(label, Op{CallOpen, name}, func() (err error) {
		fd, err = unix.Openat(dirfd, name, flags|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

func (o Ops) fsync(label string, fd int, name string) error {
	return o.do(label, Op{CallFsync, name}, func() error { return unix.Fsync(fd) })
}

func (o Ops) unlinkat(label string, dirfd int, name string) error {
	return o.do(label, Op{CallUnlink, name}, func() error { return unix.Unlinkat(dirfd, name, 0) })
}

func (o Ops) fstat(label string, fd int, name string) (st unix.Stat_t, err error) {
	err = o.do(label, Op{CallStat, name}, func() error { return unix.Fstat(fd, &st) })
	return st, err
}

// statat looks at the name itself, not at what a link points to.
func (o Ops) statat(label string, dirfd int, name string) (st unix.Stat_t, err error) {
	err = o.do(label, Op{CallStat, name}, func() error {
		return unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

// close always gives the descriptor back: the kernel frees it even where close reports
// an error, and after EINTR a second close could hit another file.
func (o Ops) close(label string, fd int, name string) error {
	asked := o.ask(label, Op{CallClose, name})
	if err := unix.Close(fd); asked == nil {
		asked = err
	}
	if errors.Is(asked, unix.EINTR) {
		return nil
	}
	return asked
}

// writeAll writes p whole, over as many calls as it takes.
func (o Ops) writeAll(fd int, name string, p []byte) error {
	for len(p) > 0 {
		n, err := o.writeOnce(fd, name, p)
		if err != nil {
			return err
		}
		if n <= 0 {
			return io.ErrShortWrite
		}
		p = p[n:]
	}
	return nil
}

func (o Ops) writeOnce(fd int, name string, p []byte) (int, error) {
	for range maxInterrupts {
		part := p
		err := o.ask(LabelWrite, Op{CallWrite, name})
		if short, ok := errors.AsType[ShortWrite](err); ok {
			part, err = p[:min(int(short), len(p))], nil
		}
		n := 0
		if err == nil {
			n, err = unix.Write(fd, part)
		}
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
	return 0, unix.EINTR
}
