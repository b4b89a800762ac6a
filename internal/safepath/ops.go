package safepath

import (
	"errors"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// maxInterrupts bounds how often one call is tried again after EINTR.
const maxInterrupts = 1000

// The calls that internal/durable has no name for.
const (
	CallLink    durable.Call = "link"    // reads what a name is, without opening it
	CallGetdent durable.Call = "getdent" // reads a directory
	CallRmdir   durable.Call = "rmdir"
	CallFcntl   durable.Call = "fcntl"
	CallStatfs  durable.Call = "statfs"
	CallMark    durable.Call = "mark" // no system call: a place between two of them
)

// The labels of the calls, which are the places where a failure or a kill is tried.
const (
	LabelOpenDir  = "path.open-dir"
	LabelOpenFile = "path.open-file"
	LabelMakeDir  = "path.make-dir"
	LabelMakeFile = "path.make-file"
	LabelMode     = "path.mode"
	LabelStat     = "path.stat"
	LabelLook     = "path.look"
	LabelRead     = "path.read"
	LabelWrite    = "path.write"
	LabelSync     = "path.sync"
	LabelClose    = "path.close"
	LabelRename   = "path.rename"
	LabelUnlink   = "path.unlink"
	LabelRmdir    = "path.rmdir"
	LabelList     = "path.list"
	LabelLock     = "path.lock"
	LabelMark     = "path.presence"
)

// Ops makes the system calls. Its zero value is what production uses.
type Ops struct {
	Hook durable.Hook // nil: no fault is injected

	// WithoutOpenat2 forces what happens anyway where the kernel lacks openat2 or a
	// sandbox forbids it: components are opened with O_NOFOLLOW, and mounts are told
	// apart by their ids.
	WithoutOpenat2 bool
}

// At passes a place between two system calls through the hook.
func (o Ops) At(label string) error { return o.ask(label, durable.Op{Call: CallMark}) }

func (o Ops) ask(label string, op durable.Op) error {
	if o.Hook == nil {
		return nil
	}
	return o.Hook(label, op)
}

// do makes one call, again after EINTR.
func (o Ops) do(label string, op durable.Op, call func() error) error {
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

// open opens one component without following it. mount keeps it on the parent's mount.
func (o Ops) open(label string, dirfd int, name string, flags int, mount bool) (int, error) {
	fd := -1
	err := o.do(label, durable.Op{Call: durable.CallOpen, Name: name}, func() (err error) {
		fd, err = o.openOnce(dirfd, name, flags, mount)
		return err
	})
	return fd, err
}

func (o Ops) openOnce(dirfd int, name string, flags int, mount bool) (int, error) {
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW
	if !o.WithoutOpenat2 {
		how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		if mount {
			how.Resolve |= unix.RESOLVE_NO_XDEV
		}
		if flags&unix.O_CREAT != 0 {
			how.Mode = 0o600
		}
		fd, err := unix.Openat2(dirfd, name, &how)
		if errors.Is(err, unix.ENOTDIR) && isLink(dirfd, name) {
			return -1, unix.ELOOP // with O_DIRECTORY that is what a link comes to
		}
		if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
			return fd, err
		}
	}
	return openPlain(dirfd, name, flags, mount)
}

// openPlain is open without openat2. EPERM of openat2 may be an old sandbox's way to
// refuse an unknown call, so this answer counts.
func openPlain(dirfd int, name string, flags int, mount bool) (int, error) {
	fd, err := unix.Openat(dirfd, name, flags, 0o600)
	if errors.Is(err, unix.ENOTDIR) && isLink(dirfd, name) {
		return -1, unix.ELOOP
	}
	if err == nil && flags&unix.O_PATH != 0 && flags&unix.O_DIRECTORY == 0 && isLink(dirfd, name) {
		// O_PATH with O_NOFOLLOW opens the link itself.
		_ = unix.Close(fd)
		return -1, unix.ELOOP
	}
	if err != nil || !mount {
		return fd, err
	}
	same, err := sameMount(dirfd, fd)
	if err == nil && !same {
		err = unix.EXDEV
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func isLink(dirfd int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// close always gives the descriptor back; after EINTR a second close could hit another
// file.
func (o Ops) close(fd int, name string) error {
	asked := o.ask(LabelClose, durable.Op{Call: durable.CallClose, Name: name})
	if err := unix.Close(fd); asked == nil {
		asked = err
	}
	if errors.Is(asked, unix.EINTR) {
		return nil
	}
	return asked
}
