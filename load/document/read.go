package document

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// MaxBytes is the size of the largest document that Read takes.
const MaxBytes = 16 << 20

// Read reads a file whole. It must be a regular one of at most MaxBytes
// bytes; what else may stand behind a name would block or never end. Only a name that
// stands for a descriptor which the caller was given (/dev/stdin, /dev/fd/N,
// /proc/self/fd/N) may lead to a pipe, a socket or a terminal, too, as
// `--config /dev/stdin` and `--config <(…)` of a shell do. Errors are those of the
// system, or an *Error that says what is there instead.
func Read(path string) ([]byte, error) { return ReadAtMost(path, MaxBytes) }

// ReadAtMost is Read with another limit, in bytes.
func ReadAtMost(path string, most int64) ([]byte, error) {
	// Asked before it is opened: opening a named pipe waits for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if what := refusedKind(path, info.Mode()); what != "" {
		return nil, &Error{File: path, Message: "is " + what + ", not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, &Error{File: path, Message: "is larger than " + size(most)}
	}
	return raw, nil
}

// refusedKind names what stands there instead of a file; "" where it may be read.
func refusedKind(path string, mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case IsDescriptor(path):
		return ""
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// IsDescriptor tells whether a name stands for an open descriptor of this process.
func IsDescriptor(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
