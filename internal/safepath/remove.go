package safepath

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

const (
	maxDepth   = 32 // directories open at once; what lies deeper is moved up first
	maxPasses  = 64 // how often one directory is read again because it keeps filling up
	direntSize = 16 << 10
	deepPrefix = ".simplex-deep-"
)

// RemoveTree removes whatever name of d is, with everything below it. A link is removed,
// never followed. It stops with ErrMount where a mount point is in the way; what was
// removed until then stays removed. Directories that refuse their owner are made
// accessible. A missing name is no error. At most 40 descriptors are open at once, and
// depth has no limit; where directories cannot be moved, which is so in the lower layer
// of an overlay, one descriptor a level is open.
func (d *Dir) RemoveTree(name string) error { return d.RemoveTreeLast(name, "") }

// RemoveTreeLast is RemoveTree that removes last, a name directly below name, after
// everything else there: as long as it stands it tells whose the rest is.
func (d *Dir) RemoveTreeLast(name, last string) error {
	if err := d.check("remove", name); err != nil {
		return err
	}
	isDir, err := d.unlinkOrDir(name)
	if err != nil || !isDir {
		return err
	}
	r := &remover{buf: make([]byte, direntSize), last: last}
	defer r.closeAll()
	if err := r.push(d, name); err != nil {
		return err
	}
	for len(r.stack) > 0 {
		if err := r.step(d); err != nil {
			return err
		}
	}
	return nil
}

// unlinkOrDir removes the name unless it is a directory.
func (d *Dir) unlinkOrDir(name string) (isDir bool, err error) {
	err = d.ops.unlink(d.fd, name)
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		return false, nil
	case errors.Is(err, unix.EISDIR):
		return true, nil
	case errors.Is(err, unix.EPERM): // what POSIX says for a directory, and an immutable file
		info, ierr := d.Look(name)
		if ierr == nil && info.Directory() {
			return true, nil
		}
	case errors.Is(err, unix.EBUSY):
		err = errors.Join(ErrMount, err)
	}
	return false, d.fail("remove", name, err)
}

// remover walks a tree depth first. The first frame is the top of the tree.
type remover struct {
	stack []*frame
	buf   []byte
	moved int
	last  string // left alone in the first frame until the rest is gone; "": nothing is
}

// frame is one directory that is being emptied.
type frame struct {
	dir     *Dir
	name    string
	names   []string // read, not handled yet
	changed bool     // something was removed since the directory was read from its start
	passes  int
}

func (r *remover) closeAll() {
	for _, f := range r.stack {
		_ = f.dir.Close()
	}
}

// push opens a directory on its parent's mount and begins to empty it.
func (r *remover) push(parent *Dir, name string) error {
	dir, err := parent.openOwn(name)
	if err != nil {
		return err
	}
	r.stack = append(r.stack, &frame{dir: dir, name: name})
	return nil
}

// openOwn opens a directory that is to be emptied; one that refuses is made accessible
// first.
func (d *Dir) openOwn(name string) (*Dir, error) {
	dir, err := d.DirHere(name, Read)
	if errors.Is(err, unix.EACCES) {
		path, perr := d.DirHere(name, Search)
		if perr != nil {
			return nil, perr
		}
		perr = d.ops.chmod(path.fd, name, 0o700)
		_ = path.Close()
		if errors.Is(perr, unix.EPERM) {
			return nil, err // another user's: the refusal is what counts
		}
		if perr != nil {
			return nil, d.fail("open directory", name, perr)
		}
		dir, err = d.DirHere(name, Read)
	}
	if err != nil {
		return nil, err
	}
	info, err := dir.Info()
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	if info.Mode&0o700 != 0o700 {
		_ = d.ops.chmod(dir.fd, name, 0o700) // where it fails, the removal tells why
	}
	return dir, nil
}

// step handles one name of the deepest directory, or leaves the directory. outer holds
// the top of the tree.
func (r *remover) step(outer *Dir) error {
	f := r.stack[len(r.stack)-1]
	if len(f.names) == 0 {
		more, err := r.list(f)
		if err != nil || more {
			return err
		}
		if len(r.stack) == 1 && r.last != "" {
			r.last, f.changed = "", true // it is listed once more
			return nil
		}
		return r.leave(outer, f)
	}
	name := f.names[len(f.names)-1]
	f.names = f.names[:len(f.names)-1]
	if len(r.stack) == 1 && name == r.last {
		return nil
	}
	isDir, err := f.dir.unlinkOrDir(name)
	f.changed = true
	if err != nil || !isDir {
		return err
	}
	if len(r.stack) < maxDepth {
		return r.push(f.dir, name)
	}
	return r.moveUp(f, name)
}

// list reads the next names; at the end it begins again until nothing is left.
func (r *remover) list(f *frame) (bool, error) {
	for {
		n := 0
		err := f.dir.ops.do(LabelList, durable.Op{Call: CallGetdent, Name: f.dir.path}, func() (err error) {
			n, err = unix.ReadDirent(f.dir.fd, r.buf)
			return err
		})
		if err != nil {
			return false, &Error{"list", f.dir.path, err}
		}
		if n > 0 {
			if _, _, f.names = unix.ParseDirent(r.buf[:n], -1, f.names); len(f.names) > 0 {
				return true, nil
			}
			continue // only . and ..
		}
		if !f.changed {
			return false, nil
		}
		if f.passes++; f.passes > maxPasses {
			return false, &Error{"remove", f.dir.path, unix.ENOTEMPTY}
		}
		f.changed = false
		if _, err := unix.Seek(f.dir.fd, 0, 0); err != nil {
			return false, &Error{"list", f.dir.path, err}
		}
	}
}

// leave removes the empty directory from its parent. Where it has filled up again it is
// read once more.
func (r *remover) leave(outer *Dir, f *frame) error {
	parent := outer
	if len(r.stack) > 1 {
		parent = r.stack[len(r.stack)-2].dir
	}
	err := parent.ops.do(LabelRmdir, durable.Op{Call: CallRmdir, Name: f.name}, func() error {
		return unix.Unlinkat(parent.fd, f.name, unix.AT_REMOVEDIR)
	})
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		r.stack = r.stack[:len(r.stack)-1]
		return f.dir.Close()
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		f.changed = true
		_, err = r.list(f)
		return err
	case errors.Is(err, unix.EBUSY):
		err = errors.Join(ErrMount, err)
	}
	return parent.fail("remove directory", f.name, err)
}

// moveUp puts a directory that lies too deep directly below the top of the tree, where
// the top's next pass finds it.
func (r *remover) moveUp(f *frame, name string) error {
	own, err := f.dir.openOwn(name) // refuses a mount, and moving needs write permission
	if err != nil {
		return err
	}
	_ = own.Close()
	top := r.stack[0]
	for range maxPasses {
		r.moved++
		err = f.dir.Rename(name, top.dir, deepPrefix+strconv.Itoa(r.moved), false)
		if !errors.Is(err, unix.EEXIST) {
			break
		}
	}
	if errors.Is(err, unix.EXDEV) { // a lower layer of an overlay: nothing there can be moved
		return r.push(f.dir, name)
	}
	if err != nil {
		return fmt.Errorf("%s lies too deep: %w", filepath.Join(f.dir.path, name), err)
	}
	top.changed, top.passes = true, 0 // it fills up by ourselves
	return nil
}
