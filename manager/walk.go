package manager

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/internal/safepath"
	"simplex/manager/protocol"
)

// chain is the opened path from "/" to an allocation's parent, with the locks on it.
type chain struct {
	dirs    []*safepath.Dir
	mutates bool // locks are taken
	creates bool // missing directories are made
}

// components of the path from "/" to the directory's parent.
func components(directory string) []string {
	parent := strings.TrimPrefix(filepath.Dir(directory), "/")
	if parent == "" {
		return nil
	}
	return strings.Split(parent, "/")
}

// walk opens the parents of directory one by one. On the way down it looks whether a
// component is an allocation: nothing may lie inside one, live or retired. With mutates
// the ancestors are locked shared and the parent exclusively.
func (m *Manager) walk(directory string, mutates, creates bool) (*chain, error) {
	access := safepath.Search
	if mutates {
		access = safepath.Read
	}
	root, err := m.ops.Root(access)
	if err != nil {
		return nil, err
	}
	c := &chain{dirs: []*safepath.Dir{root}, mutates: mutates, creates: creates}
	if err := c.descend(components(directory)); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *chain) descend(names []string) error {
	if err := c.lock(len(names) == 0); err != nil {
		return err
	}
	for i, name := range names {
		next, err := c.enter(name)
		if err != nil {
			return err
		}
		c.dirs = append(c.dirs, next)
		if err := c.lock(i == len(names)-1); err != nil {
			return err
		}
	}
	if !c.mutates {
		return nil
	}
	// A directory that was moved between its opening and its lock is another's now.
	for i, child := range c.dirs[1:] {
		if err := c.dirs[i].Moved(child); err != nil {
			return err
		}
	}
	return nil
}

func (c *chain) last() *safepath.Dir { return c.dirs[len(c.dirs)-1] }

// lock locks the directory reached: the last one, which is the parent, exclusively.
func (c *chain) lock(parent bool) error {
	switch {
	case !c.mutates:
		return nil
	case parent:
		return c.last().Lock(safepath.Exclusive)
	}
	return c.last().Lock(safepath.Shared)
}

// enter opens the next component, or makes it.
func (c *chain) enter(name string) (*safepath.Dir, error) {
	cur := c.last()
	if err := unclaimed(cur, name); err != nil {
		return nil, err
	}
	access := safepath.Search
	if c.mutates {
		access = safepath.Read
	}
	next, err := cur.Dir(name, access)
	if !missing(err) {
		return next, err
	}
	if !c.creates {
		return nil, notFound()
	}
	// From here nobody gets past this directory. Another may have been here just before.
	if err := cur.Lock(safepath.Exclusive); err != nil {
		return nil, err
	}
	if err := unclaimed(cur, name); err != nil {
		return nil, err
	}
	if err := cur.MakeDir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := cur.Sync(); err != nil {
		return nil, err
	}
	return cur.Dir(name, access)
}

// unclaimed fails where name of dir is an allocation.
func unclaimed(dir *safepath.Dir, name string) error {
	if !protocol.ValidID(name) {
		return nil
	}
	claimed, err := dir.Holds(protocol.ManagerDirectory, name+recordSuffix)
	if err == nil && claimed {
		return refuse(protocol.NestedAllocation, "the directory lies inside an allocation, live or retired: "+filepath.Join(dir.Path(), name))
	}
	return err
}

// unlock gives the locks back and keeps the descriptors.
func (c *chain) unlock() {
	for _, d := range slices.Backward(c.dirs) {
		d.Unlock()
	}
}

// close gives descriptors and locks back in reverse order.
func (c *chain) close() {
	if c == nil {
		return
	}
	for i := len(c.dirs) - 1; i >= 0; i-- {
		_ = c.dirs[i].Close()
	}
}

// openManagerDir opens `.simplex-manager`. Anybody else who could write there could take
// the locks away.
func openManagerDir(parent *safepath.Dir, access safepath.Access) (*safepath.Dir, error) {
	open := parent.Dir
	if access == safepath.Read { // for a mutation, which moves roots between the two
		open = parent.DirHere
	}
	dir, err := open(protocol.ManagerDirectory, access)
	if err != nil {
		return nil, err
	}
	info, err := dir.Info()
	if err == nil && (int(info.UID) != unix.Geteuid() || info.Mode&0o022 != 0) {
		err = refuse(protocol.UnsafePath, dir.Path()+" belongs to another user or others may write there")
	}
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}
