package safepath

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Regain gives the owner of d back what the mode denies it: to move a directory to
// another parent, and to empty it, takes all three permissions. Another user's directory
// stays as it is. undo puts the old mode back, as far as that is possible.
func (d *Dir) Regain() (undo func(), err error) {
	info, err := d.Info()
	if err != nil || unix.Geteuid() == 0 {
		return func() {}, err
	}
	old := info.Mode & 0o7777
	if old&0o700 == 0o700 {
		return func() {}, nil
	}
	err = d.ops.chmod(d.fd, d.path, old|0o700)
	if err != nil && !errors.Is(err, unix.EPERM) {
		return func() {}, &Error{"set mode of", d.path, err}
	}
	return func() { _ = d.ops.chmod(d.fd, d.path, old) }, nil
}

// RegainFile is Regain for the regular file name of d, which can be read and written
// afterwards. A file with a second name, which may lie anywhere, and whatever else is
// there are left alone.
func (d *Dir) RegainFile(name string) (undo func(), err error) {
	old, err := d.regainFile(name, nil, 0o600)
	return func() {
		if old != nil {
			_, _ = d.regainFile(name, old, 0)
		}
	}, err
}

// regainFile adds bits to the mode of a file, or sets the one that it had before.
func (d *Dir) regainFile(name string, before *Info, bits uint32) (*Info, error) {
	if err := d.check("set mode of", name); err != nil {
		return nil, err
	}
	fd, err := d.ops.open(LabelMode, d.fd, name, unix.O_PATH, false)
	if err != nil {
		return nil, d.fail("set mode of", name, fileError(err))
	}
	defer unix.Close(fd)
	info, err := d.ops.statx(LabelStat, fd, "", name)
	if err != nil || !info.Regular() || info.Links != 1 || before != nil && !before.Same(info) {
		return nil, err
	}
	mode := info.Mode&0o7777 | bits
	if before != nil {
		mode = before.Mode & 0o7777
	}
	if mode == info.Mode&0o7777 {
		return nil, nil
	}
	if err := d.ops.chmod(fd, name, mode); err != nil && !errors.Is(err, unix.EPERM) {
		return nil, d.fail("set mode of", name, err)
	}
	return &info, nil
}
