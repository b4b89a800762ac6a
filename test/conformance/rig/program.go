package rig

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience bounds waits that a sound program ends by itself.
const Patience = 60 * time.Second

// Deadline is a context that ends after Patience or with the test.
func Deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Program is one running process of the binary.
type Program struct {
	Stderr *Transcript

	t    testing.TB
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, once done is closed
}

// Launch starts the binary in dir. prefix is what the command line begins with instead,
// as in `ip netns exec NAME`; empty for a plain start. Whatever is left of it at the end
// of the test is killed.
func Launch(t testing.TB, dir string, prefix []string, args ...string) *Program {
	t.Helper()
	return launch(t, dir, append(append(append([]string(nil), prefix...), Binary), args...))
}

func launch(t testing.TB, dir string, line []string) *Program {
	t.Helper()
	if err := Sources(); err != nil {
		t.Fatal(err)
	}
	p := &Program{t: t, Stderr: newTranscript(), done: make(chan struct{})}
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Dir = dir
	p.cmd.Stderr = p.Stderr
	p.cmd.WaitDelay = 5 * time.Second // a descendant that holds stderr becomes an error
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(p.end)
	return p
}

func (p *Program) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
	if errors.Is(p.err, exec.ErrWaitDelay) {
		p.t.Error("a descendant held the worker's standard error")
	}
	if text := p.Stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
		p.t.Errorf("the worker is broken:\n%s", text)
	}
	if p.t.Failed() {
		p.t.Logf("stderr of %v:\n%.20000s", p.cmd.Args, p.Stderr)
	}
}

// PID is the process id; that of the binary also behind a prefix that execs.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Done is closed once the process has ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// Signal sends a signal, which must find the process alive.
func (p *Program) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v", s, err)
	}
}

// Kill is kill -9; it returns once the process is gone.
func (p *Program) Kill() {
	p.t.Helper()
	p.Signal(os.Kill)
	p.Wait()
}

// Stop ends the process in order.
func (p *Program) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

// Wait gives the exit code, -1 after a fatal signal.
func (p *Program) Wait() int {
	p.t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.t.Fatalf("%v still runs after %v", p.cmd.Args, Patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Exits waits for the end and compares the exit code.
func (p *Program) Exits(want int) {
	p.t.Helper()
	if got := p.Wait(); got != want {
		p.t.Fatalf("exit code %d, want %d", got, want)
	}
}

// Says waits until standard error holds a text n times.
func (p *Program) Says(text string, n int) {
	p.t.Helper()
	if !p.Stderr.await(Deadline(p.t), p.done, func(all string) bool { return strings.Count(all, text) >= n }) {
		p.t.Fatalf("%q did not come %d times:\n%s", text, n, p.Stderr)
	}
}
