package durable

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadFile reads the regular file name of d whole. The last component is not followed
// where it is a link (ErrNotRegular), and a FIFO does not block it. A missing file is
// fs.ErrNotExist. One call sees one version of a file that is replaced by publication.
func (d *Dir) ReadFile(name string) ([]byte, error) {
	path := filepath.Join(d.path, name)
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	fd, err := d.ops.openat(LabelReadOpen, d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		err = ErrNotRegular
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer unix.Close(fd)
	st, err := d.ops.fstat(LabelReadStat, fd, name)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out, err := d.readAll(fd, name, int(st.Size))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}

// readAll trusts the size only as a hint: the end is where read gives nothing.
func (d *Dir) readAll(fd int, name string, size int) ([]byte, error) {
	out := make([]byte, 0, size+1)
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n := 0
		err := d.ops.do(LabelReadData, Op{CallRead, name}, func() (err error) {
			n, err = unix.Read(fd, out[len(out):cap(out)])
			return err
		})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return out, nil
		}
		out = out[:len(out)+n]
	}
}

// Exists tells whether something of that name stands in d, whatever it is.
func (d *Dir) Exists(name string) bool {
	_, err := d.ops.statat(LabelReadStat, d.fd, name)
	return err == nil
}
