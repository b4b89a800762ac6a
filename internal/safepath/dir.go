package safepath

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// Access is what an opened directory is for.
type Access int

const (
	// Search needs search permission only; such a directory cannot be locked, listed
	// or synced.
	Search Access = unix.O_PATH
	// Read is needed for locks, lists and fsync.
	Read Access = unix.O_RDONLY
)

// Dir is an opened directory. Names given to its methods are looked up in it even if
// its path leads elsewhere meanwhile.
type Dir struct {
	ops  Ops
	fd   int
	path string // for messages, and to find mounts
	held bool   // a flock was taken
}

// Root opens "/".
func (o Ops) Root(access Access) (*Dir, error) {
	fd, err := o.open(LabelOpenDir, unix.AT_FDCWD, "/", int(access)|unix.O_DIRECTORY, false)
	if err != nil {
		return nil, &Error{"open directory", "/", dirError(err)}
	}
	return &Dir{ops: o, fd: fd, path: "/"}, nil
}

// Path is where the directory was found.
func (d *Dir) Path() string { return d.path }

// Ops is what the directory was opened with.
func (d *Dir) Ops() Ops { return d.ops }

// Dir opens the directory name of d. A link is ErrLink, a missing one fs.ErrNotExist.
func (d *Dir) Dir(name string, access Access) (*Dir, error) { return d.dir(name, access, false) }

// DirHere is Dir that refuses a mount point (ErrMount).
func (d *Dir) DirHere(name string, access Access) (*Dir, error) { return d.dir(name, access, true) }

func (d *Dir) dir(name string, access Access, mount bool) (*Dir, error) {
	if err := d.check("open directory", name); err != nil {
		return nil, err
	}
	fd, err := d.ops.open(LabelOpenDir, d.fd, name, int(access)|unix.O_DIRECTORY, mount)
	if err != nil {
		return nil, d.fail("open directory", name, dirError(err))
	}
	return &Dir{ops: d.ops, fd: fd, path: filepath.Join(d.path, name)}, nil
}

// Descend opens a directory several components below d; "" and "." are d itself, opened
// once more.
func (d *Dir) Descend(rel string, access Access) (*Dir, error) {
	fd, err := d.ops.open(LabelOpenDir, d.fd, ".", int(access)|unix.O_DIRECTORY, false)
	if err != nil {
		return nil, d.fail("open directory", ".", dirError(err))
	}
	cur := &Dir{ops: d.ops, fd: fd, path: d.path}
	for name := range strings.SplitSeq(filepath.Clean(rel), "/") {
		if name == "." {
			continue
		}
		next, err := cur.Dir(name, access)
		_ = cur.Close()
		if err != nil {
			return nil, err
		}
		cur = next
	}
	return cur, nil
}

// MakeDir makes the directory name of d with mode 0700 exactly. One that is there
// already is fs.ErrExist.
func (d *Dir) MakeDir(name string) error {
	if err := d.check("make directory", name); err != nil {
		return err
	}
	err := d.ops.do(LabelMakeDir, durable.Op{Call: durable.CallMkdir, Name: name}, func() error {
		return unix.Mkdirat(d.fd, name, 0o700)
	})
	if err != nil {
		return d.fail("make directory", name, err)
	}
	// The umask, a default ACL or a parent with the set-group-ID bit may have changed it.
	info, err := d.Look(name)
	if err != nil || info.Mode&0o7777 == 0o700 {
		return err
	}
	fd, err := d.ops.open(LabelMode, d.fd, name, unix.O_PATH|unix.O_DIRECTORY, false)
	if err == nil {
		err = d.ops.chmod(fd, name, 0o700)
		_ = unix.Close(fd)
	}
	if err != nil {
		return d.fail("set mode of", name, err)
	}
	return nil
}

// Sync makes the entries of d durable.
func (d *Dir) Sync() error {
	err := d.ops.do(LabelSync, durable.Op{Call: durable.CallFsync, Name: d.path}, func() error { return unix.Fsync(d.fd) })
	if err != nil {
		return &Error{"sync directory", d.path, err}
	}
	return nil
}

// Rename moves name of d to newName of to. With replace a file there is replaced;
// without, anything there is fs.ErrExist.
func (d *Dir) Rename(name string, to *Dir, newName string, replace bool) error {
	if err := errors.Join(d.check("rename", name), to.check("rename", newName)); err != nil {
		return err
	}
	err := d.ops.do(LabelRename, durable.Op{Call: durable.CallRename, Name: newName}, func() error {
		if replace {
			return unix.Renameat(d.fd, name, to.fd, newName)
		}
		return renameNew(d.fd, name, to.fd, newName)
	})
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EBUSY) {
		err = errors.Join(ErrMount, err)
	}
	if err != nil {
		return d.fail("rename", name, err)
	}
	return nil
}

// renameNew never replaces. A few file systems cannot promise that; there a look before
// the rename has to do.
func renameNew(from int, name string, to int, newName string) error {
	err := unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	var st unix.Stat_t
	switch err := unix.Fstatat(to, newName, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case err == nil:
		return unix.EEXIST
	case !errors.Is(err, unix.ENOENT):
		return err
	}
	return unix.Renameat(from, name, to, newName)
}

func (o Ops) unlink(fd int, name string) error {
	return o.do(LabelUnlink, durable.Op{Call: durable.CallUnlink, Name: name}, func() error {
		return unix.Unlinkat(fd, name, 0)
	})
}

// chmod changes what an O_PATH descriptor stands for; the path leads to that inode and
// nowhere else.
func (o Ops) chmod(fd int, name string, mode uint32) error {
	return o.do(LabelMode, durable.Op{Call: durable.CallChmod, Name: name}, func() error {
		return unix.Chmod(selfPath(fd), mode)
	})
}

// Close gives the descriptor and its lock back. A second call does nothing.
func (d *Dir) Close() error {
	if d == nil || d.fd < 0 {
		return nil
	}
	fd := d.fd
	d.fd = -1
	if d.held {
		// A child between fork and exec may hold a copy; unlocking counts for all.
		_ = unix.Flock(fd, unix.LOCK_UN)
	}
	if err := unix.Close(fd); err != nil && !errors.Is(err, unix.EINTR) {
		return &Error{"close directory", d.path, err}
	}
	return nil
}

func (d *Dir) fail(call, name string, err error) error {
	return &Error{call, filepath.Join(d.path, name), err}
}

// check accepts one path component.
func (d *Dir) check(call, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return d.fail(call, name, ErrName)
	}
	return nil
}
