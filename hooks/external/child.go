package external

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"simplex/internal/text"
)

const (
	killTime    = 2 * time.Second        // to vanish after KILL
	drainTime   = 100 * time.Millisecond // for streams that an escaped descendant holds
	maxLogLine  = 1 << 10                // bytes
	maxLogLines = 1000
)

// child is the running program, leader of a group of its own. Until it has been reaped
// its number, and so the group's, cannot be another's.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	logged chan struct{}

	mu     sync.Mutex
	reaped bool

	exited chan struct{} // closed once it is reaped and its group is killed
	status error         // after exited
}

func startChild(cfg Config) (*child, error) {
	path, err := lookPath(cfg.Command, cfg.Environment)
	if err != nil {
		return nil, err
	}
	c := &child{logged: make(chan struct{}), exited: make(chan struct{})}
	var theirs [3]*os.File
	for i, ours := range []**os.File{&c.stdin, &c.stdout, &c.stderr} {
		r, w, failure := os.Pipe()
		err = errors.Join(err, failure)
		if i == 0 {
			r, w = w, r
		}
		*ours, theirs[i] = r, w
	}
	c.cmd = &exec.Cmd{
		Path: path, Args: append([]string{cfg.Command}, cfg.Args...),
		Env: append([]string{}, cfg.Environment...), // never nil, which would be the worker's
		Dir: cfg.WorkingDirectory, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}
	if err == nil {
		err = c.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		c.closeStreams()
		return nil, err
	}
	go c.log(cfg.Logger)
	go c.wait()
	return c, nil
}

// lookPath finds a bare name by the PATH that the program gets, of which only absolute
// elements count.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, entry := range env {
		search, _ := strings.CutPrefix(entry, "PATH=")
		for _, dir := range filepath.SplitList(search) {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && search != entry && filepath.IsAbs(dir) {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func (c *child) closeStreams() {
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		_ = f.Close()
	}
}

// wait looks for the leader's end without consuming it, kills what is left of the
// group while the number is still its own, and only then reaps.
func (c *child) wait() {
	defer close(c.exited)
	for errors.Is(unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	c.status = c.cmd.Wait()
	c.reaped = true
}

func (c *child) signal(sig unix.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(-c.cmd.Process.Pid, sig)
	}
}

// end makes an end of the program and its group: end of input and TERM, the grace
// time, KILL. A closed hurry cuts the grace time short.
func (c *child) end(grace time.Duration, hurry <-chan struct{}) error {
	_ = c.stdin.Close()
	c.signal(unix.SIGTERM)
	c.signal(unix.SIGCONT) // a stopped one must run to see it
	ended := c.gone(grace, hurry)
	if !ended {
		c.signal(unix.SIGKILL)
		ended = c.gone(killTime, nil)
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-c.logged:
	case <-timer.C:
	}
	c.closeStreams()
	<-c.logged
	if !ended {
		return fmt.Errorf("process %d outlives SIGKILL", c.cmd.Process.Pid)
	}
	return nil
}

// gone waits for the exit, at most that long and not beyond hurry.
func (c *child) gone(most time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
	case <-hurry:
	}
	return false
}

// log copies standard error to the log, bounded in lines and their length.
func (c *child) log(logger *slog.Logger) {
	defer close(c.logged)
	in := bufio.NewReaderSize(c.stderr, maxLogLine)
	rest := false // of a long line
	for lines := 0; ; {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 && !rest {
			switch lines++; {
			case lines <= maxLogLines:
				logger.Debug("program says", "stderr", text.Display(strings.TrimRight(string(line), "\r\n")))
			case lines == maxLogLines+1:
				logger.Debug("program says more than is logged", "lines", maxLogLines)
			}
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !rest {
			return
		}
	}
}

// errLine: a line of the program is longer than it may be.
var errLine = errors.New("a line is too long")

// readLine reads one line of at most limit bytes, its end included.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLine
		}
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}
