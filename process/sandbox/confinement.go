package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/process/execve"
)

// Executable is the running program, whatever has become of its file: what a confined
// child starts as.
const Executable = "/proc/self/exe"

// confineCommand is the first argument of the start that ConfineMain serves.
const confineCommand = "__confine"

// Target is what a confined child becomes in the end.
type Target struct {
	Path      string
	Argv, Env []string
}

// Confinement is one start of a confined child under way. The child begins as
// this program with an empty environment (its own might change how a program
// is loaded, before anything confines it) and gets the rules, the target and a
// pipe for bad news as three descriptors.
type Confinement struct {
	first         int // number of the first of the three in the child
	rules, target *os.File
	status        *os.File // the child's end
	news          *os.File // our end
}

// Confine prepares the start of a child that gets the descriptors of Files from
// number first on; extra are further files to be writable, such as the child's
// terminal. The Confinement is to be closed however the start goes.
func (s *Box) Confine(t Target, first int, extra ...string) (*Confinement, error) {
	text, err := t.encode()
	if err != nil {
		return nil, err
	}
	c := &Confinement{first: first}
	if c.rules, err = s.rules(extra); err == nil {
		err = c.open(text)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Confinement) open(text string) error {
	fd, err := execve.TextFile(text)
	if err != nil {
		return err
	}
	c.target = os.NewFile(uintptr(fd), "target")
	if _, err := c.target.Seek(0, io.SeekStart); err != nil {
		return err
	}
	c.news, c.status, err = os.Pipe()
	return err
}

// Files are the child's descriptors from first on.
func (c *Confinement) Files() []*os.File { return []*os.File{c.rules, c.target, c.status} }

// Arguments are what Executable is to be started with, and an empty environment.
func (c *Confinement) Arguments() []string {
	return []string{"simplex", confineCommand, strconv.Itoa(c.first)}
}

// Outcome waits until the child has become its target, or tells why it has not: the
// errno of its exec, or ErrUnavailable.
func (c *Confinement) Outcome() error {
	_ = c.status.Close()
	news, err := io.ReadAll(c.news)
	if err != nil {
		return err
	}
	if len(news) != 1+4 {
		return nil
	}
	errno := unix.Errno(binary.LittleEndian.Uint32(news[1:]))
	if news[0] == newsExec {
		return errno
	}
	return fmt.Errorf("%w: the child could not confine itself: %w", ErrUnavailable, errno)
}

// Close gives back the host's descriptors.
func (c *Confinement) Close() {
	for _, f := range []*os.File{c.rules, c.target, c.status, c.news} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// encode writes path, number of arguments, arguments and environment, each with
// a NUL behind it.
func (t Target) encode() (string, error) {
	fields := append([]string{t.Path, strconv.Itoa(len(t.Argv))}, t.Argv...)
	fields = append(fields, t.Env...)
	var text strings.Builder
	for _, field := range fields {
		if strings.IndexByte(field, 0) >= 0 {
			return "", fmt.Errorf("argument or environment has a NUL byte: %w", fs.ErrInvalid)
		}
		text.WriteString(field)
		text.WriteByte(0)
	}
	return text.String(), nil
}

var errNoTarget = errors.New("malformed target")

func decodeTarget(text string) (Target, error) {
	fields := strings.Split(text, "\x00")
	fields = fields[:len(fields)-1]
	if len(fields) < 2 {
		return Target{}, errNoTarget
	}
	count, err := strconv.Atoi(fields[1])
	if err != nil || count < 0 || count > len(fields)-2 {
		return Target{}, errNoTarget
	}
	rest := fields[2:]
	return Target{Path: fields[0], Argv: rest[:count:count], Env: rest[count:]}, nil
}
