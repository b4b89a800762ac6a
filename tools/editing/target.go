package editing

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/tools/reading/regular"
)

// Point names a step of an edit that a test may watch or break.
type Point string

// The points, in the order in which an edit passes them.
const (
	PointRead    Point = "read"     // the file is open and looked at, and will be read
	PointWrite   Point = "write"    // it was read; the temporary file will be made
	PointSync    Point = "sync"     // the new content is written, and will be fsynced
	PointCompare Point = "compare"  // the file will be compared with what was read
	PointRename  Point = "rename"   // the last look was taken; the commit point follows
	PointSyncDir Point = "sync_dir" // the new content is visible; the directory will be fsynced
)

// Hook is asked before each point's step. An error takes the place of the step.
type Hook func(Point) error

// Errors that are refusals of a file.
var (
	errConflict = errors.New("the file changed meanwhile")
	errLink     = errors.New("a symbolic link")
	errShared   = errors.New("further hard links")
	errBits     = errors.New("set-uid, set-gid or sticky bit")
	errName     = errors.New("no file name")
)

// identity is what must not change from the first look at a file until its rename.
type identity struct {
	dev, ino             uint64
	size                 int64
	mode, uid, gid       uint32
	links                uint64
	modified, changed    int64
	modifiedNS, changeNS int64
}

func identityOf(st *unix.Stat_t) identity {
	return identity{
		dev: st.Dev, ino: st.Ino, size: st.Size,
		mode: st.Mode, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink),
		modified: st.Mtim.Sec, modifiedNS: st.Mtim.Nsec,
		changed: st.Ctim.Sec, changeNS: st.Ctim.Nsec,
	}
}

// target is an open file in its open directory.
type target struct {
	dir, file int
	name      string
	id        identity
	hook      Hook
}

// open opens the file without following a final link and without blocking, and
// refuses what must not be edited.
func open(path string, hook Hook) (*target, error) {
	parent, name := filepath.Split(path)
	if name == "" {
		return nil, errName
	}
	if parent == "" {
		parent = "."
	}
	dir, err := openat(unix.AT_FDCWD, parent, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	t := &target{dir: dir, file: -1, name: name, hook: hook}
	if err := t.openFile(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *target) openFile() (err error) {
	t.file, err = openat(t.dir, t.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return errLink
	case errors.Is(err, unix.ENXIO):
		return &regular.KindError{Kind: "a socket or device"}
	case err != nil:
		return err
	}
	st, err := fstat(t.file)
	if err != nil {
		return err
	}
	t.id = identityOf(&st)
	switch {
	case regular.Kind(st.Mode) != "":
		return &regular.KindError{Kind: regular.Kind(st.Mode)}
	case st.Nlink != 1:
		return errShared
	case st.Mode&0o7000 != 0:
		return errBits
	case st.Size > maxFile:
		return &regular.SizeError{Size: st.Size, Limit: maxFile}
	}
	return nil
}

func (t *target) close() {
	if t.file >= 0 {
		_ = unix.Close(t.file)
	}
	_ = unix.Close(t.dir)
}

// at asks the hook.
func (t *target) at(p Point) error {
	if t.hook == nil {
		return nil
	}
	return t.hook(p)
}

// read gives the whole content, provided that the file did not change the while.
func (t *target) read() ([]byte, error) {
	if err := t.at(PointRead); err != nil {
		return nil, err
	}
	content, err := regular.ReadAll(t.file, t.id.size, maxFile)
	if err != nil {
		return nil, err
	}
	return content, t.same()
}

// same fails with errConflict unless the open file is as it was at the first look.
func (t *target) same() error {
	st, err := fstat(t.file)
	if err == nil && identityOf(&st) != t.id {
		err = errConflict
	}
	return err
}

// named fails with errConflict unless the name still leads to the file, unchanged.
func (t *target) named() error {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(t.dir, t.name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, unix.ENOENT) || err == nil && identityOf(&st) != t.id {
		return errConflict
	}
	return err
}

func openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	if strings.ContainsRune(name, 0) {
		return -1, unix.EINVAL
	}
	err = again(func() (err error) {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return -1, err
	}
	return fd, nil
}

func fstat(fd int) (st unix.Stat_t, err error) {
	err = again(func() error { return unix.Fstat(fd, &st) })
	return st, err
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
