package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"simplex/internal/text"
)

// Times of a program's life that nobody needs to configure.
const (
	inputGrace = 500 * time.Millisecond // from the end of input to TERM
	killTime   = 2 * time.Second        // for a process to vanish after KILL
	drainTime  = 100 * time.Millisecond // for streams that an escaped descendant holds
	writeTime  = 10 * time.Second       // for the program to take a message
)

// What of its standard error goes to the log.
const (
	maxLogLine  = 1 << 10 // bytes
	maxLogLines = 1000
)

// program is the running server process, leader of a group of its own. As long as
// it has not been reaped its number, and so the group's, cannot be another's.
type program struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	logged chan struct{} // closed when stderr has been read to its end

	mu     sync.Mutex
	reaped bool

	exited chan struct{} // closed once it is reaped and its group is killed
	status error         // how it ended; after exited
}

func startProgram(cfg Config) (*program, error) {
	path, err := lookPath(cfg.Command, cfg.Environment)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{cfg.Command}, cfg.Args...),
		Env: append([]string{}, cfg.Environment...), // never nil, which would be the worker's
		Dir: cfg.WorkingDirectory, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	p := &program{cmd: cmd, logged: make(chan struct{}), exited: make(chan struct{})}
	theirs, err := p.openStreams()
	if err == nil {
		err = cfg.Sandbox.Start(cmd)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		p.closeStreams()
		return nil, err
	}
	go p.log(cfg.Logger)
	go p.wait()
	return p, nil
}

// openStreams gives the child's ends, also of a failure.
func (p *program) openStreams() (theirs []*os.File, err error) {
	pipe := func(ours **os.File, theirsReads bool) *os.File {
		r, w, failure := os.Pipe()
		if err = errors.Join(err, failure); failure != nil {
			return nil
		}
		if theirsReads {
			r, w = w, r
		}
		*ours = r
		theirs = append(theirs, w)
		return w
	}
	if f := pipe(&p.stdin, true); f != nil {
		p.cmd.Stdin = f
	}
	if f := pipe(&p.stdout, false); f != nil {
		p.cmd.Stdout = f
	}
	if f := pipe(&p.stderr, false); f != nil {
		p.cmd.Stderr = f
	}
	return theirs, err
}

func (p *program) closeStreams() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait looks for the leader's end without consuming it, kills what is left of the
// group while the number is still its own, and only then reaps.
func (p *program) wait() {
	defer close(p.exited)
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	p.status = p.cmd.Wait()
	p.reaped = true
}

// signal reaches the whole group.
func (p *program) signal(sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(-p.cmd.Process.Pid, sig)
	}
}

// end makes an end of the program and its group: end of input, TERM, the grace time,
// KILL. A closed hurry cuts every wait but the last short.
func (p *program) end(grace time.Duration, hurry <-chan struct{}) error {
	defer p.finish()
	_ = p.stdin.Close()
	if p.gone(inputGrace, hurry) {
		return nil
	}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT) // a stopped one must run to see it
	if p.gone(grace, hurry) {
		return nil
	}
	p.signal(unix.SIGKILL)
	if p.gone(killTime, nil) {
		return nil
	}
	return fmt.Errorf("process %d outlives SIGKILL", p.cmd.Process.Pid)
}

// gone waits for the exit, at most that long and not beyond hurry.
func (p *program) gone(most time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-hurry:
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// finish closes the streams, after a moment for what is still in them.
func (p *program) finish() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-p.logged:
	case <-timer.C:
	}
	p.closeStreams()
	<-p.logged
}

// log copies standard error to the log, bounded in lines and their length.
func (p *program) log(logger *slog.Logger) {
	defer close(p.logged)
	in := bufio.NewReaderSize(p.stderr, maxLogLine)
	skip := false // the rest of a long line
	for lines := 0; ; {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 && !skip && lines <= maxLogLines {
			if lines++; lines <= maxLogLines {
				logger.Debug("server says", "stderr", text.Display(trimEnd(line)))
			} else {
				logger.Debug("server says more than is logged", "lines", maxLogLines)
			}
		}
		skip = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !skip {
			return
		}
	}
}

func trimEnd(line []byte) string {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return string(line)
}

// timedWriter fails where the program takes nothing for a while, and so bounds a
// call that could not even be sent.
type timedWriter struct{ *os.File }

func (w timedWriter) Write(p []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return w.File.Write(p)
}
