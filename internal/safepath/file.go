package safepath

import (
	"errors"
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// File is an opened regular file. It is an io.Reader and an io.Writer.
type File struct {
	ops  Ops
	fd   int
	path string
	info Info // when it was opened
	held bool // a lock was taken
}

// Open opens the regular file name of d for reading. A link is ErrLink; a directory,
// FIFO, socket or device durable.ErrNotRegular; a missing file fs.ErrNotExist.
func (d *Dir) Open(name string) (*File, error) {
	return d.file(LabelOpenFile, name, unix.O_RDONLY)
}

// OpenLock opens the regular file name of d for reading and writing.
func (d *Dir) OpenLock(name string) (*File, error) { return d.file(LabelOpenFile, name, unix.O_RDWR) }

// MakeLock is OpenLock that makes a missing file, mode 0600.
func (d *Dir) MakeLock(name string) (*File, error) {
	f, err := d.file(LabelMakeFile, name, unix.O_RDWR|unix.O_CREAT)
	if err != nil || f.info.Mode&0o7777 == 0o600 {
		return f, err
	}
	return f, f.setMode()
}

// Create makes the file name of d, mode 0600, for writing. Anything there is
// fs.ErrExist.
func (d *Dir) Create(name string) (*File, error) {
	f, err := d.file(LabelMakeFile, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil || f.info.Mode&0o7777 == 0o600 {
		return f, err
	}
	return f, f.setMode()
}

func (d *Dir) file(label, name string, flags int) (*File, error) {
	if err := d.check("open", name); err != nil {
		return nil, err
	}
	fd, err := d.ops.open(label, d.fd, name, flags|unix.O_NONBLOCK|unix.O_NOCTTY, false)
	if err != nil {
		return nil, d.fail("open", name, fileError(err))
	}
	f := &File{ops: d.ops, fd: fd, path: filepath.Join(d.path, name)}
	if f.info, err = d.ops.statx(LabelStat, fd, "", name); err == nil && !f.info.Regular() {
		err = durable.ErrNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, d.fail("open", name, err)
	}
	return f, nil
}

// setMode undoes what the umask or an ACL made of 0600.
func (f *File) setMode() error {
	err := f.ops.do(LabelMode, durable.Op{Call: durable.CallChmod, Name: filepath.Base(f.path)}, func() error {
		return unix.Fchmod(f.fd, 0o600)
	})
	if err != nil {
		_ = f.Close()
		return &Error{"set mode of", f.path, err}
	}
	return nil
}

// Path is where the file was found.
func (f *File) Path() string { return f.path }

// Info tells what the file was when it was opened.
func (f *File) Info() Info { return f.info }

// Read reads on. See io.Reader.
func (f *File) Read(p []byte) (int, error) {
	n := 0
	err := f.ops.do(LabelRead, durable.Op{Call: durable.CallRead, Name: f.path}, func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, &Error{"read", f.path, err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Rewind makes the next Read begin at the start.
func (f *File) Rewind() error {
	if _, err := unix.Seek(f.fd, 0, io.SeekStart); err != nil {
		return &Error{"rewind", f.path, err}
	}
	return nil
}

// ReadAll reads to the end. A file of more than limit bytes is ErrTooLarge.
func (f *File) ReadAll(limit int) ([]byte, error) {
	out := make([]byte, 0, min(f.info.Size, int64(limit), 1<<20)+1)
	for {
		if len(out) > limit {
			return nil, &Error{"read", f.path, ErrTooLarge}
		}
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n, err := f.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Write writes p whole, over as many calls as it takes.
func (f *File) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := f.writeOnce(p[done:])
		if err == nil && n <= 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return done, &Error{"write", f.path, err}
		}
		done += n
	}
	return done, nil
}

func (f *File) writeOnce(p []byte) (n int, err error) {
	part := p
	err = f.ops.do(LabelWrite, durable.Op{Call: durable.CallWrite, Name: f.path}, func() (err error) {
		n, err = unix.Write(f.fd, part)
		return err
	})
	if short, ok := errors.AsType[durable.ShortWrite](err); ok {
		return unix.Write(f.fd, p[:min(int(short), len(p))])
	}
	return n, err
}

// Sync makes the content durable.
func (f *File) Sync() error {
	err := f.ops.do(LabelSync, durable.Op{Call: durable.CallFsync, Name: f.path}, func() error { return unix.Fsync(f.fd) })
	if err != nil {
		return &Error{"sync", f.path, err}
	}
	return nil
}

// Close gives the descriptor and its locks back. A second call does nothing.
func (f *File) Close() error {
	if f == nil || f.fd < 0 {
		return nil
	}
	fd := f.fd
	f.fd = -1
	if f.held {
		_ = unix.Flock(fd, unix.LOCK_UN)
	}
	if err := f.ops.close(fd, f.path); err != nil {
		return &Error{"close", f.path, err}
	}
	return nil
}
