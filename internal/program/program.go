package program

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Config of a Child.
type Config struct {
	Path string   // of the executable; required
	Args []string // the whole argument vector, its own name first
	// Environment is all the program gets, as KEY=VALUE; nil is nothing.
	Environment      []string
	WorkingDirectory string // "" is the parent's
	// Start starts the command prepared by this package, and may confine it; it must
	// keep its streams and its SysProcAttr. nil is (*exec.Cmd).Start.
	Start func(*exec.Cmd) error
	// InputGrace is the time between the end of input and TERM; 0 is none.
	InputGrace time.Duration
	// Speaker is what the log calls the program, as in "server says"; "" is program.
	Speaker string
	Logger  *slog.Logger // gets the program's standard error at debug; nil discards
}

// Child is a running program, the leader of a group of its own. Its methods may be
// called by several goroutines at once. It must be ended by End, also where the program
// ended by itself.
type Child struct {
	Stdin  *os.File // to the program; knows deadlines
	Stdout *os.File // of the program; closed by End

	cmd        *exec.Cmd
	inputGrace time.Duration
	stderr     *os.File
	logged     chan struct{} // closed when stderr has been read to its end

	mu     sync.Mutex
	reaped bool
	words  []string // the last lines of stderr

	exited chan struct{} // closed once it is reaped and its group is killed
	status error         // how it ended; after exited
}

// Start starts the program. On failure nothing is left of it.
func Start(cfg Config) (*Child, error) {
	if cfg.Start == nil {
		cfg.Start = (*exec.Cmd).Start
	}
	if cfg.Speaker == "" {
		cfg.Speaker = "program"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Child{inputGrace: cfg.InputGrace, logged: make(chan struct{}), exited: make(chan struct{})}
	theirs, err := c.openStreams()
	c.cmd = &exec.Cmd{
		Path: cfg.Path, Args: cfg.Args,
		Env: append([]string{}, cfg.Environment...), // never nil, which would be the parent's
		Dir: cfg.WorkingDirectory, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}
	if err == nil {
		err = cfg.Start(c.cmd)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		c.closeStreams()
		return nil, err
	}
	go c.log(cfg.Logger, cfg.Speaker)
	go c.wait()
	return c, nil
}

// openStreams gives the program's ends, also of a failure; those that could not be
// opened are nil, which Close of a file can take.
func (c *Child) openStreams() (theirs [3]*os.File, err error) {
	for i, ours := range []**os.File{&c.Stdin, &c.Stdout, &c.stderr} {
		r, w, failure := os.Pipe()
		err = errors.Join(err, failure)
		if i == 0 {
			r, w = w, r
		}
		*ours, theirs[i] = r, w
	}
	return theirs, err
}

func (c *Child) closeStreams() {
	for _, f := range []*os.File{c.Stdin, c.Stdout, c.stderr} {
		_ = f.Close()
	}
}

// PID is the process's number, and its group's.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Exited is closed once the program has ended, its group is killed and it is reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Status is how the program ended, nil for exit status 0. It waits for the end.
func (c *Child) Status() error {
	<-c.exited
	return c.status
}
