package process

import (
	"bytes"
	"errors"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/execve"
)

// What a terminal starts with (tools.md §4.9).
const (
	TerminalColumns = 80
	TerminalRows    = 24
	terminalType    = "TERM=dumb"
)

// MaxTerminalLine is the longest line, its end included, that a terminal in
// canonical mode hands over whole, in bytes. The kernel cuts a longer one
// without a word, so it is refused instead.
const MaxTerminalLine = 4095

// terminal is the environment of a launch with TTY: the child leads a session
// whose controlling terminal is descriptors 0–2; echo is off, input canonical.
// Line ends of the output stay as the terminal makes them (CR LF).
type terminal struct {
	master *os.File
	slave  *os.File
}

func openTerminal() (*terminal, error) {
	opened, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	t := &terminal{slave: slave}
	t.master, err = pollable(opened)
	if err == nil {
		err = t.prepare()
	}
	if err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// pollable moves the master to a descriptor of the runtime's poller, so that
// closing it ends a read; the library leaves it in blocking mode.
func pollable(opened *os.File) (*os.File, error) {
	defer func() { _ = opened.Close() }()
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

func (t *terminal) prepare() error {
	if err := t.resize(TerminalColumns, TerminalRows); err != nil {
		return err
	}
	return t.control(func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		mode.Lflag |= unix.ICANON | unix.ISIG
		mode.Lflag &^= unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHONL
		return unix.IoctlSetTermios(fd, unix.TCSETS, mode)
	})
}

func (t *terminal) resize(columns, rows uint16) error {
	return t.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	})
}

// foreground is the group that the terminal's signals go to, 0 if it has none.
func (t *terminal) foreground() int {
	group := 0
	err := t.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err != nil {
		return 0 // closed, or no session has it any more
	}
	return group
}

func (t *terminal) control(do func(fd int) error) error {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	return errors.Join(raw.Control(func(fd uintptr) { failure = do(int(fd)) }), failure)
}

func (t *terminal) childFiles() []uintptr {
	fd := t.slave.Fd()
	return []uintptr{fd, fd, fd}
}

func (t *terminal) configure(attr *syscall.SysProcAttr) {
	attr.Setsid = true
	attr.Setctty = true
	attr.Ctty = 0
}

// environment puts the terminal's type in place of the host's.
func (t *terminal) environment(env []string) []string {
	merged, err := execve.MergeEnvironment(env, []string{terminalType})
	if err != nil {
		return env
	}
	return merged
}

func (t *terminal) started() { _ = t.slave.Close() }

func (t *terminal) abandon() {
	t.started()
	if t.master != nil {
		_ = t.master.Close()
	}
}

func (t *terminal) sources() []source {
	// Linux ends a master with EIO once the last slave is closed.
	ends := func(err error) bool { return errors.Is(err, unix.EIO) }
	return []source{{name: capture.Terminal, file: t.master, ends: ends}}
}

func (t *terminal) sink() sink { return &terminalSink{terminal: t} }

// terminalSink types into the terminal. It never ends the input for good: the
// end of file character is a request that later input may follow.
type terminalSink struct {
	terminal *terminal
	line     int // bytes since the last line end
}

func (s *terminalSink) admit(p []byte) error {
	mode, err := s.mode()
	if err != nil {
		return err
	}
	ends := "\n"
	if mode.Iflag&unix.ICRNL != 0 {
		ends = "\r\n"
	}
	longest, line := 0, s.line
	rest := p
	for {
		at := bytes.IndexAny(rest, ends)
		if at < 0 {
			line += len(rest)
			longest = max(longest, line)
			break
		}
		longest = max(longest, line+at+1)
		line, rest = 0, rest[at+1:]
	}
	if mode.Lflag&unix.ICANON != 0 && longest > MaxTerminalLine {
		return &SizeError{What: "terminal input line", Size: longest, Limit: MaxTerminalLine}
	}
	s.line = line
	return nil
}

func (s *terminalSink) closing() ([]byte, bool) {
	eof := byte(4)
	if mode, err := s.mode(); err == nil && mode.Cc[unix.VEOF] != 0 {
		eof = mode.Cc[unix.VEOF]
	}
	if s.line == 0 {
		return []byte{eof}, false
	}
	s.line = 0
	return []byte{eof, eof}, false
}

func (s *terminalSink) mode() (mode *unix.Termios, err error) {
	err = s.terminal.control(func(fd int) (err error) {
		mode, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	return mode, err
}

func (s *terminalSink) write(p []byte) error {
	_, err := s.terminal.master.Write(p)
	return err
}

// close leaves the master open: the output still has to be drained.
func (s *terminalSink) close() {}
