package safepath

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Regain gives the owner of d back what the mode denies it: to move a directory to
// another parent, and to empty it, takes all three permissions. Another user's directory
// stays as it is.
func (d *Dir) Regain() error {
	info, err := d.Info()
	if err != nil || info.Mode&0o700 == 0o700 || unix.Geteuid() == 0 {
		return err
	}
	err = d.ops.chmod(d.fd, d.path, info.Mode&0o7777|0o700)
	if err != nil && !errors.Is(err, unix.EPERM) {
		return &Error{"set mode of", d.path, err}
	}
	return nil
}

// RegainFile is Regain for the regular file name of d, which can be read and written
// afterwards. Anything else there is left alone.
func (d *Dir) RegainFile(name string) error {
	if err := d.check("set mode of", name); err != nil {
		return err
	}
	fd, err := d.ops.open(LabelMode, d.fd, name, unix.O_PATH, false)
	if err != nil {
		return d.fail("set mode of", name, fileError(err))
	}
	defer unix.Close(fd)
	info, err := d.ops.statx(LabelStat, fd, "", name)
	if err == nil && info.Regular() {
		err = d.ops.chmod(fd, name, info.Mode&0o7777|0o600)
	}
	if err != nil && !errors.Is(err, unix.EPERM) {
		return d.fail("set mode of", name, err)
	}
	return nil
}
