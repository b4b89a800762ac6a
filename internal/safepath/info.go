package safepath

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// Info is what the kernel tells about one inode.
type Info struct {
	Dev, Ino uint64
	Born     int64  // creation, ns since 1970; 0 where the file system does not tell
	Mode     uint32 // type and permission bits as in stat(2)
	UID      uint32
	Links    uint32
	Size     int64
}

// Regular tells whether it is a regular file.
func (i Info) Regular() bool { return i.Mode&unix.S_IFMT == unix.S_IFREG }

// Directory tells whether it is a directory.
func (i Info) Directory() bool { return i.Mode&unix.S_IFMT == unix.S_IFDIR }

// Link tells whether it is a symbolic link.
func (i Info) Link() bool { return i.Mode&unix.S_IFMT == unix.S_IFLNK }

// foreign tells whether it is of a user whose word does not count for us.
func (i Info) foreign() bool {
	euid := unix.Geteuid()
	return euid != 0 && i.UID != 0 && int(i.UID) != euid
}

// Same tells whether both are the same inode.
func (i Info) Same(o Info) bool { return i.Dev == o.Dev && i.Ino == o.Ino }

// Look tells about the name itself, not about what a link points to.
func (d *Dir) Look(name string) (Info, error) {
	info, err := d.ops.statx(LabelLook, d.fd, name, name)
	if err != nil {
		return Info{}, d.fail("look at", name, err)
	}
	return info, nil
}

// Info tells about the directory itself.
func (d *Dir) Info() (Info, error) {
	info, err := d.ops.statx(LabelStat, d.fd, "", d.path)
	if err != nil {
		return Info{}, &Error{"look at", d.path, err}
	}
	return info, nil
}

// Holds tells whether name is in d's directory inner, both looked at without following
// links (ErrLink). Where inner is missing, or is another user's that neither root nor we
// could have made, the answer is no: only root has to respect what any user says.
func (d *Dir) Holds(inner, name string) (bool, error) {
	if err := errors.Join(d.check("look at", inner), d.check("look at", name)); err != nil {
		return false, err
	}
	in, err := d.Dir(inner, Search)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		if info, lerr := d.Look(inner); lerr == nil && info.foreign() {
			return false, nil
		}
		return false, err
	}
	defer in.Close()
	info, err := in.Info()
	if err != nil || info.foreign() {
		return false, err
	}
	_, err = in.Look(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, fs.ErrPermission) && int(info.UID) != unix.Geteuid():
		return false, nil // root hides it, and so nothing of ours is in there
	}
	return err == nil, err
}

// Moved fails with ErrMoved unless name of d is still the directory child.
func (d *Dir) Moved(child *Dir) error {
	name := filepath.Base(child.path)
	now, err := d.Look(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d.fail("look at", name, ErrMoved)
	}
	if err != nil {
		return err
	}
	then, err := child.Info()
	if err == nil && !now.Same(then) {
		err = d.fail("look at", name, ErrMoved)
	}
	return err
}

// statx looks at the name without following it, or at fd itself where name is empty.
func (o Ops) statx(label string, fd int, name, shown string) (Info, error) {
	var st unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_EMPTY_PATH
	err := o.do(label, durable.Op{Call: durable.CallStat, Name: shown}, func() error {
		return unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
	})
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Mode: uint32(st.Mode), UID: st.Uid,
		Links: st.Nlink, Size: int64(st.Size),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		info.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return info, nil
}
