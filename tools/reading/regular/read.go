package regular

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors of Read, for errors.Is.
var (
	// ErrKind: not a regular file. See KindError.
	ErrKind = errors.New("not a regular file")
	// ErrTooLarge: more bytes than the limit. See SizeError.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrPath: no path that the system could take.
	ErrPath = errors.New("not a usable path")
)

// KindError is ErrKind with what stands there.
type KindError struct{ Kind string }

func (e *KindError) Error() string        { return "it is " + e.Kind + ", not a regular file" }
func (e *KindError) Is(target error) bool { return target == ErrKind }

// SizeError is ErrTooLarge with the numbers, in bytes.
type SizeError struct {
	Size  int64 // what is known of the size; it may be more
	Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("it has %d bytes, more than the limit of %d", e.Size, e.Limit)
}
func (e *SizeError) Is(target error) bool { return target == ErrTooLarge }

// Kind names the file type in a mode; "" for a regular file.
func Kind(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "a device"
	case unix.S_IFLNK:
		return "a symbolic link"
	default:
		return "a special file"
	}
}

// Read gives the content of the regular file at path, of at most limit bytes. Errors
// are *KindError, *SizeError, ErrPath, or a unix.Errno.
func Read(path string, limit int64) ([]byte, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, ErrPath
	}
	fd, err := open(path)
	if errors.Is(err, unix.ENXIO) { // a socket, or a device without driver
		return nil, &KindError{"a socket or device"}
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if kind := Kind(st.Mode); kind != "" {
		return nil, &KindError{kind}
	}
	if st.Size > limit {
		return nil, &SizeError{st.Size, limit}
	}
	return ReadAll(fd, st.Size, limit)
}

func open(path string) (fd int, err error) {
	for {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// ReadAll reads the open file from its start to its end by position; size is only a
// hint (some files of the kernel say 0). More than limit bytes are a *SizeError.
func ReadAll(fd int, size, limit int64) ([]byte, error) {
	out := make([]byte, 0, min(size, limit)+1)
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		room := out[len(out):min(int64(cap(out)), limit+1)]
		n, err := unix.Pread(fd, room, int64(len(out)))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return out, nil
		}
		if out = out[:len(out)+n]; int64(len(out)) > limit {
			return nil, &SizeError{int64(len(out)), limit}
		}
	}
}
