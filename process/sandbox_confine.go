package process

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
)

// selfExecutable is the running program, whatever has become of its file.
const selfExecutable = "/proc/self/exe"

// confineCommand is the first argument of the start that ConfineMain serves.
const confineCommand = "__confine"

// target is what a confined child becomes in the end.
type target struct {
	path      string
	argv, env []string
}

// confinement is one start of a confined child under way. The child begins as
// this program with an empty environment (its own might change how a program
// is loaded, before anything confines it) and gets the rules, the target and a
// pipe for bad news as three descriptors.
type confinement struct {
	first         int // number of the first of the three in the child
	rules, target *os.File
	status        *os.File // the child's end
	news          *os.File // our end
}

// confine prepares the start; extra are further files to be writable, such as
// the child's terminal.
func (s *Sandbox) confine(t target, first int, extra ...string) (*confinement, error) {
	text, err := t.encode()
	if err != nil {
		return nil, err
	}
	c := &confinement{first: first}
	if c.rules, err = s.rules(extra); err == nil {
		err = c.open(text)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *confinement) open(text string) error {
	fd, err := scriptFile(text)
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

// files are the child's descriptors from first on.
func (c *confinement) files() []*os.File { return []*os.File{c.rules, c.target, c.status} }

func (c *confinement) arguments() []string {
	return []string{"simplex", confineCommand, strconv.Itoa(c.first)}
}

// outcome waits until the child has become its target, or tells why it has not.
func (c *confinement) outcome() error {
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
	return fmt.Errorf("%w: the child could not confine itself: %w", ErrNoSandbox, errno)
}

func (c *confinement) close() {
	for _, f := range []*os.File{c.rules, c.target, c.status, c.news} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// encode writes path, number of arguments, arguments and environment, each with
// a NUL behind it.
func (t target) encode() (string, error) {
	fields := append([]string{t.path, strconv.Itoa(len(t.argv))}, t.argv...)
	fields = append(fields, t.env...)
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

func decodeTarget(text string) (target, error) {
	fields := strings.Split(text, "\x00")
	fields = fields[:len(fields)-1]
	if len(fields) < 2 {
		return target{}, errNoTarget
	}
	count, err := strconv.Atoi(fields[1])
	if err != nil || count < 0 || count > len(fields)-2 {
		return target{}, errNoTarget
	}
	rest := fields[2:]
	return target{path: fields[0], argv: rest[:count:count], env: rest[count:]}, nil
}

// startConfined is exec by way of ConfineMain.
func (l launch) startConfined(io ioEnvironment, files []uintptr) (*child, error) {
	var terminals []string
	if t, ok := io.(*terminal); ok {
		terminals = append(terminals, t.slave.Name())
	}
	c, err := l.sandbox.confine(target{path: l.path, argv: l.argv, env: l.env}, len(files), terminals...)
	if err != nil {
		return nil, err
	}
	defer c.close()
	for _, f := range c.files() {
		files = append(files, f.Fd())
	}
	by := launch{path: selfExecutable, argv: c.arguments(), dir: l.dir}
	child, err := by.exec(io, files)
	if err != nil {
		return nil, err
	}
	err = c.outcome()
	if err == nil {
		return child, nil
	}
	_, _ = child.wait()
	child.close()
	if errors.Is(err, unix.E2BIG) {
		return nil, l.tooLarge()
	}
	return nil, err
}
