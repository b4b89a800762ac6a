package durable

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lockPause is the time between two tries. flock cannot be waited for with a
	// deadline, and a wait is rare: a killed holder's child is about to exec.
	lockPause = 10 * time.Millisecond
	// lockReopens is how often one try starts over because the file was replaced.
	lockReopens = 3
)

// LockConfig says which lock to take and how long to wait.
type LockConfig struct {
	Name string        // the lock file inside the directory; one path component
	Wait time.Duration // how long a held lock is tried again; 0: one try

	// After starts the pause between two tries; nil: time.After.
	After func(time.Duration) <-chan time.Time
}

// Lock takes an exclusive flock on d's file cfg.Name, which it makes (0600) where it is
// missing and which nobody ever unlinks. The lock belongs to the open file, so a second
// Lock in the same process finds it held, too, and it ends with the process in any case.
//
// release gives it up; calls after the first return what the first one returned. Errors:
// *LockedError (ErrLocked), ErrNotRegular, ErrLockUnsupported, ctx's cause, or an errno.
func (d *Dir) Lock(ctx context.Context, cfg LockConfig) (release func() error, err error) {
	path := filepath.Join(d.path, cfg.Name)
	if err := checkName(cfg.Name); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	after := cfg.After
	if after == nil {
		after = time.After
	}
	// The pauses are counted: a clock that is set must not shorten or lengthen the wait.
	for left := cfg.Wait; ; left -= lockPause {
		fd, err := d.tryLock(cfg.Name)
		if err == nil {
			return sync.OnceValue(func() error { return unlock(fd, path) }), nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if left <= 0 {
			return nil, &LockedError{Path: path, Holder: d.holder(cfg.Name)}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-after(lockPause):
		}
	}
}

// tryLock opens and locks the file that the name stands for when it returns.
func (d *Dir) tryLock(name string) (int, error) {
	for range lockReopens {
		fd, err := d.openLock(name)
		if err != nil {
			return -1, err
		}
		same, err := d.lockFile(fd, name)
		if err == nil && same {
			return fd, nil
		}
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
	}
	return -1, ErrLocked // replaced again and again: somebody is at work there
}

func (d *Dir) openLock(name string) (int, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_NONBLOCK
	fd, err := d.ops.openat(LabelLockOpen, d.fd, name, flags, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENXIO):
		return -1, ErrNotRegular
	case err != nil:
		return -1, err
	}
	return fd, nil
}

// lockFile takes the lock on fd and tells whether the name still leads to that inode: a
// lock on a file that was renamed or removed meanwhile would exclude nobody.
func (d *Dir) lockFile(fd int, name string) (bool, error) {
	st, err := d.ops.fstat(LabelLockStat, fd, name)
	if err != nil {
		return false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false, ErrNotRegular
	}
	if st.Mode&0o777 != 0o600 {
		// An odd umask or an old file. Somebody else's file stays as it is, and locks as well.
		_ = unix.Fchmod(fd, 0o600)
	}
	if err := checkLockable(fd); err != nil {
		return false, err
	}
	err = d.ops.do(LabelLockTake, Op{CallFlock, name}, func() error {
		return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	})
	if err != nil {
		return false, lockError(err)
	}
	now, err := d.ops.statat(LabelLockCheck, d.fd, name)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return now.Dev == st.Dev && now.Ino == st.Ino, err
}

func lockError(err error) error {
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	for _, errno := range []unix.Errno{unix.EBADF, unix.EOPNOTSUPP, unix.ENOLCK, unix.ENOSYS} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w: %w", ErrLockUnsupported, err)
		}
	}
	return err
}

// checkLockable refuses network file systems: their flock is not one that every client
// and every server keeps, and a lock that only seems held is worse than none.
func checkLockable(fd int) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return nil // unknown: flock itself decides
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC:
		return fmt.Errorf("%w: network file system", ErrLockUnsupported)
	}
	return nil
}

// unlock releases explicitly before closing: a child between fork and exec may still
// hold a copy of the descriptor, and LOCK_UN counts for all copies.
func unlock(fd int, path string) error {
	err := unix.Flock(fd, unix.LOCK_UN)
	if cerr := unix.Close(fd); err == nil && !errors.Is(cerr, unix.EINTR) {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("unlock %s: %w", path, err)
	}
	return nil
}
