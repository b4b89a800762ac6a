package ancestors

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/internal/safepath"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// ErrMissing: a directory above the allocation is not there, and none was to be made.
var ErrMissing = errors.New("a directory above the allocation is missing")

// Chain is the opened path from "/" to an allocation's parent, with the locks on it. It is
// for one goroutine; nil is a chain without directories, which can be closed.
type Chain struct {
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

// Depth is how many directories Open has open at its end, "/" not counted.
func Depth(directory string) int { return len(components(directory)) }

// Open opens the parents of directory one by one. On the way down it looks whether a
// component is an allocation: nothing may lie inside one, live or retired. With mutates
// the ancestors are locked shared and the parent exclusively, without waiting. Missing
// directories are made with creates and are ErrMissing without. What fails holds nothing.
func Open(ops safepath.Ops, directory string, mutates, creates bool) (*Chain, error) {
	access := safepath.Search
	if mutates {
		access = safepath.Read
	}
	root, err := ops.Root(access)
	if err != nil {
		return nil, err
	}
	c := &Chain{dirs: []*safepath.Dir{root}, mutates: mutates, creates: creates}
	if err := c.descend(components(directory)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Chain) descend(names []string) error {
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

// Last is the allocation's parent. It is closed with the chain.
func (c *Chain) Last() *safepath.Dir { return c.dirs[len(c.dirs)-1] }

// lock locks the directory reached: the last one, which is the parent, exclusively.
func (c *Chain) lock(parent bool) error {
	switch {
	case !c.mutates:
		return nil
	case parent:
		return c.Last().Lock(safepath.Exclusive)
	}
	return c.Last().Lock(safepath.Shared)
}

// enter opens the next component, or makes it.
func (c *Chain) enter(name string) (*safepath.Dir, error) {
	cur := c.Last()
	if err := unclaimed(cur, name); err != nil {
		return nil, err
	}
	access := safepath.Search
	if c.mutates {
		access = safepath.Read
	}
	next, err := cur.Dir(name, access)
	if !errors.Is(err, fs.ErrNotExist) {
		return next, err
	}
	if !c.creates {
		return nil, ErrMissing
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
	claimed, err := dir.Holds(protocol.ManagerDirectory, name+record.Suffix)
	if err == nil && claimed {
		return protocol.NewError(protocol.NestedAllocation, "the directory lies inside an allocation, live or retired: "+filepath.Join(dir.Path(), name))
	}
	return err
}

// Unlock gives the locks back and keeps the descriptors.
func (c *Chain) Unlock() {
	for _, d := range slices.Backward(c.dirs) {
		d.Unlock()
	}
}

// Close gives descriptors and locks back in reverse order.
func (c *Chain) Close() {
	if c == nil {
		return
	}
	for i := len(c.dirs) - 1; i >= 0; i-- {
		_ = c.dirs[i].Close()
	}
}

// ManagerDir opens `.simplex-manager` in an allocation's parent. Anybody else who could
// write there could take the locks away, so that is refused.
func ManagerDir(parent *safepath.Dir, access safepath.Access) (*safepath.Dir, error) {
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
		err = protocol.NewError(protocol.UnsafePath, dir.Path()+" belongs to another user or others may write there")
	}
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}
