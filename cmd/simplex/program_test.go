package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// program is one running simplex process.
type program struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdout *transcript
	stderr *transcript
	done   chan struct{}
	err    error // of Wait, once done is closed
}

// launch starts simplex in dir. Whatever is left of it at the end of the test is killed.
func launch(t testing.TB, dir string, args ...string) *program {
	t.Helper()
	return launchWith(t, dir, nil, args...)
}

func launchWith(t testing.TB, dir string, prepare func(*exec.Cmd), args ...string) *program {
	t.Helper()
	p := &program{t: t, stdout: newTranscript(), stderr: newTranscript(), done: make(chan struct{})}
	p.cmd = exec.Command("simplex", args...)
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	// A descendant that holds the worker's own output would keep Wait waiting: with
	// this it becomes an error instead.
	p.cmd.WaitDelay = 5 * time.Second
	if prepare != nil {
		prepare(p.cmd)
	}
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

func (p *program) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
	if errors.Is(p.err, exec.ErrWaitDelay) {
		p.t.Error("a descendant held the worker's standard output or error")
	}
	if text := p.stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
		p.t.Errorf("the worker is broken:\n%s", text)
	}
	if p.t.Failed() {
		p.t.Logf("stderr of %v:\n%s", p.cmd.Args, p.stderr)
	}
}

// signal sends a signal, which must find the process alive.
func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v", s, err)
	}
}

// kill is kill -9; it returns once the process is gone.
func (p *program) kill() {
	p.t.Helper()
	p.signal(os.Kill)
	p.wait(patience)
}

// wait gives the exit code, -1 after a fatal signal.
func (p *program) wait(limit time.Duration) int {
	p.t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.t.Fatalf("%v still runs after %v", p.cmd.Args, limit)
	}
	return p.cmd.ProcessState.ExitCode()
}

// exits waits for the end and compares the exit code.
func (p *program) exits(want int) {
	p.t.Helper()
	if got := p.wait(patience); got != want {
		p.t.Fatalf("exit code %d, want %d", got, want)
	}
}

// says waits until standard error holds a text.
func (p *program) says(text string) {
	p.t.Helper()
	p.awaits(p.stderr, text, 1)
}

// awaits waits until a stream holds a text n times.
func (p *program) awaits(s *transcript, text string, n int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !s.await(ctx, p.done, func(all string) bool { return strings.Count(all, text) >= n }) {
		p.t.Fatalf("%q did not come %d times:\n%s", text, n, s)
	}
}

// transcript keeps what a process writes and lets tests wait for it.
type transcript struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until ok is true of the text so far; false when over closes or ctx ends
// first.
func (s *transcript) await(ctx context.Context, over <-chan struct{}, ok func(string) bool) bool {
	for {
		s.mu.Lock()
		text, changed := s.text.String(), s.changed
		s.mu.Unlock()
		if ok(text) {
			return true
		}
		select {
		case <-changed:
		case <-over:
			return ok(s.String())
		case <-ctx.Done():
			return false
		}
	}
}

var _ io.Writer = (*transcript)(nil)
