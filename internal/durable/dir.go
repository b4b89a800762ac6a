package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const openDirFlags = unix.O_RDONLY | unix.O_DIRECTORY

// Dir is an opened directory. Names given to its methods are looked up in that
// directory even if its path is given to another one meanwhile. Its methods may be
// called from several goroutines; Close only when none of them runs.
type Dir struct {
	ops  Ops
	fd   int
	path string
	made []string // parents of directories that opening this one had to make
}

// OpenDir opens a directory and makes what is missing of its path, mode 0700 less the
// umask. Links in the path are followed.
func OpenDir(path string) (*Dir, error) { return Ops{}.OpenDir(path) }

// OpenDir is the package's OpenDir, made through o.
func (o Ops) OpenDir(path string) (*Dir, error) {
	if path == "" {
		return nil, fmt.Errorf("open directory: %w: empty path", ErrBadName)
	}
	d := &Dir{ops: o, path: path}
	fd, err := o.openat(LabelDirOpen, unix.AT_FDCWD, path, openDirFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.makeAll(filepath.Clean(path)); err == nil {
			fd, err = o.openat(LabelDirOpen, unix.AT_FDCWD, path, openDirFlags, 0)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", path, err)
	}
	d.fd = fd
	return d, nil
}

func (d *Dir) makeAll(path string) error {
	err := d.mkdirat(unix.AT_FDCWD, path, filepath.Dir(path))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return err
	}
	if err := d.makeAll(parent); err != nil {
		return err
	}
	return d.mkdirat(unix.AT_FDCWD, path, parent)
}

func (d *Dir) mkdirat(dirfd int, name, parent string) error {
	err := d.ops.do(LabelDirMake, Op{CallMkdir, name}, func() error { return unix.Mkdirat(dirfd, name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		d.made = append(d.made, parent)
	}
	return err
}

// Sub opens a directory below d and makes what is missing. No component may be a link;
// rel must stay inside d.
func (d *Dir) Sub(rel string) (*Dir, error) {
	if !filepath.IsLocal(rel) || filepath.Clean(rel) == "." {
		return nil, fmt.Errorf("open directory %q below %s: %w", rel, d.path, ErrBadName)
	}
	cur := &Dir{ops: d.ops, fd: d.fd, path: d.path, made: slices.Clone(d.made)}
	for name := range strings.SplitSeq(filepath.Clean(rel), "/") {
		fd, err := cur.openChild(name)
		if cur.fd != d.fd {
			_ = unix.Close(cur.fd)
		}
		cur.path = filepath.Join(cur.path, name)
		if err != nil {
			return nil, fmt.Errorf("open directory %s: %w", cur.path, err)
		}
		cur.fd = fd
	}
	return cur, nil
}

func (d *Dir) openChild(name string) (int, error) {
	fd, err := d.ops.openat(LabelDirOpen, d.fd, name, openDirFlags|unix.O_NOFOLLOW, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return fd, err
	}
	if err := d.mkdirat(d.fd, name, d.path); err != nil {
		return -1, err
	}
	return d.ops.openat(LabelDirOpen, d.fd, name, openDirFlags|unix.O_NOFOLLOW, 0)
}

// Path is the directory's path as it was given.
func (d *Dir) Path() string { return d.path }

// CheckWritable fails where the process may not make files in the directory: no
// permission, or a file system that is read-only.
func (d *Dir) CheckWritable() error {
	err := d.ops.do(LabelDirAccess, Op{CallAccess, d.path}, func() error {
		return unix.Faccessat(d.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	})
	if err != nil {
		return fmt.Errorf("directory %s cannot be written: %w", d.path, err)
	}
	return nil
}

// SyncMade makes the directories durable that opening d had to make, d included. A
// publication alone does not: it syncs d, not the entry of d in its parent. Where
// nothing was made, and after a success, it costs nothing. Not concurrently with itself.
func (d *Dir) SyncMade() error {
	for _, parent := range d.made {
		fd, err := d.ops.openat(LabelDirOpen, unix.AT_FDCWD, parent, openDirFlags, 0)
		if err != nil {
			return fmt.Errorf("sync directory %s: %w", parent, err)
		}
		err = d.ops.fsync(LabelDirSync, fd, parent)
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("sync directory %s: %w", parent, err)
		}
	}
	d.made = nil
	return nil
}

// Close gives the descriptor back. It does not release locks taken in the directory.
// A second call is ErrClosed.
func (d *Dir) Close() error {
	if d.fd < 0 {
		return fmt.Errorf("directory %s: %w", d.path, ErrClosed)
	}
	fd := d.fd
	d.fd = -1
	if err := unix.Close(fd); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("close directory %s: %w", d.path, err)
	}
	return nil
}

// checkName accepts one path component.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%w: %q", ErrBadName, name)
	}
	return nil
}
