package execve

import (
	"errors"

	"golang.org/x/sys/unix"
)

// TextFile is an anonymous file with the text: a close-on-exec descriptor that stands
// behind its end, for the caller to close.
func TextFile(text string) (int, error) {
	fd, err := unix.MemfdCreate("script", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	for len(text) > 0 {
		n, err := unix.Write(fd, []byte(text))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			_ = unix.Close(fd)
			return -1, err
		}
		text = text[n:]
	}
	return fd, nil
}
