package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// LockKind is shared or exclusive.
type LockKind int

// The kinds of locks. All are taken without waiting.
const (
	Shared    LockKind = unix.LOCK_SH
	Exclusive LockKind = unix.LOCK_EX
)

// lockReopens is how often a lock file that was replaced is opened again.
const lockReopens = 3

// presenceByte is the byte of a lock file whose read lock says that a worker is there.
const presenceByte = 1

// Lock takes a flock on the directory, or converts the one that it has. A conversion
// that fails loses the old lock. Errors: durable.ErrLocked, durable.ErrLockUnsupported.
func (d *Dir) Lock(kind LockKind) error {
	if err := d.ops.lock(d.fd, d.path, kind); err != nil {
		return &Error{"lock directory", d.path, err}
	}
	d.held = true
	return nil
}

// Unlock gives the directory's lock back, if it has one.
func (d *Dir) Unlock() {
	if d.held {
		_ = unix.Flock(d.fd, unix.LOCK_UN)
		d.held = false
	}
}

// LockFile opens the lock file name of d, makes it with make if it is missing, and
// takes a flock on the inode that the name stands for when it returns. A file with a
// second hard link is durable.ErrNotRegular: it would tie two locks together.
func (d *Dir) LockFile(name string, kind LockKind, makeIt bool) (*File, error) {
	open := d.OpenLock
	if makeIt {
		open = d.MakeLock
	}
	for range lockReopens {
		f, err := open(name)
		if err != nil {
			return nil, err
		}
		same, err := d.lockOpened(f, name, kind)
		if err == nil && same {
			return f, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, d.fail("lock", name, durable.ErrLocked) // replaced again and again: somebody is at work
}

func (d *Dir) lockOpened(f *File, name string, kind LockKind) (bool, error) {
	if err := d.ops.lock(f.fd, f.path, kind); err != nil {
		return false, &Error{"lock", f.path, err}
	}
	f.held = true
	now, err := d.Look(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !now.Same(f.info) {
		return false, nil
	}
	if err == nil && now.Links != 1 {
		err = d.fail("lock", name, fmt.Errorf("%w: it has %d names", durable.ErrNotRegular, now.Links))
	}
	return true, err
}

func (o Ops) lock(fd int, name string, kind LockKind) error {
	if err := o.lockable(fd, name); err != nil {
		return err
	}
	err := o.do(LabelLock, durable.Op{Call: durable.CallFlock, Name: name}, func() error {
		return unix.Flock(fd, int(kind)|unix.LOCK_NB)
	})
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return durable.ErrLocked
	case errors.Is(err, unix.EBADF), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: %w", durable.ErrLockUnsupported, err)
	}
	return err
}

// lockable refuses network file systems, where a lock may only seem held.
func (o Ops) lockable(fd int, name string) error {
	var st unix.Statfs_t
	err := o.do(LabelLock, durable.Op{Call: CallStatfs, Name: name}, func() error { return unix.Fstatfs(fd, &st) })
	if err != nil {
		return err
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC:
		return fmt.Errorf("%w: network file system", durable.ErrLockUnsupported)
	}
	return nil
}

// MarkPresence takes the read lock on the presence byte for as long as f is open.
func (f *File) MarkPresence() error {
	lk := unix.Flock_t{Type: unix.F_RDLCK, Start: presenceByte, Len: 1}
	if err := f.fcntl(unix.F_OFD_SETLK, &lk); err != nil {
		return &Error{"mark presence in", f.path, ofdError(err)}
	}
	return nil
}

// Present tells whether somebody marked presence, without taking a lock.
func (f *File) Present() (bool, error) {
	lk := unix.Flock_t{Type: unix.F_WRLCK, Start: presenceByte, Len: 1}
	if err := f.fcntl(unix.F_OFD_GETLK, &lk); err != nil {
		return false, &Error{"ask for presence in", f.path, ofdError(err)}
	}
	return lk.Type != unix.F_UNLCK, nil
}

// LockRecords takes a write lock on all bytes, which excludes programs that lock with
// fcntl. It ends with f.
func (f *File) LockRecords() error {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	if err := f.fcntl(unix.F_OFD_SETLK, &lk); err != nil {
		return &Error{"lock", f.path, ofdError(err)}
	}
	return nil
}

func (f *File) fcntl(cmd int, lk *unix.Flock_t) error {
	return f.ops.do(LabelMark, durable.Op{Call: CallFcntl, Name: filepath.Base(f.path)}, func() error {
		return unix.FcntlFlock(uintptr(f.fd), cmd, lk)
	})
}

func ofdError(err error) error {
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return durable.ErrLocked
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w: %w", durable.ErrLockUnsupported, err)
	}
	return err
}
