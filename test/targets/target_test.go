package targets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// target is a way to a machine, as a Hub goes it.
type target struct {
	name string
	// line is the command line for a program and its arguments there.
	line func(argv ...string) []string
	// put moves or copies a directory of this machine into a directory there.
	put func(from, to string) error
}

func local() target {
	return target{
		name: "local", line: func(argv ...string) []string { return argv },
		put: func(from, to string) error { return os.Rename(from, filepath.Join(to, filepath.Base(from))) },
	}
}

func overSSH(t testing.TB) target {
	t.Helper()
	s, err := programs(t).sshd()
	if err != nil {
		t.Fatal(err)
	}
	tg := local()
	tg.name = "ssh"
	tg.line = func(argv ...string) []string { return sshLine(s, sshHost, argv) }
	return tg
}

func sshLine(s *sshd, host string, argv []string) []string {
	line := []string{"ssh", "-F", s.client, "-T", "--", host}
	for _, word := range argv {
		line = append(line, quoted(word))
	}
	return line
}

// quoted makes one word for a POSIX shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func inContainer(t testing.TB) target {
	t.Helper()
	e, err := programs(t).engine()
	if err != nil {
		t.Fatal(err)
	}
	return target{
		name: "docker",
		line: func(argv ...string) []string { return e.docker(append([]string{"exec", container}, argv...)...).Args },
		put:  func(from, to string) error { return e.docker("cp", from, container+":"+to+"/").Run() },
	}
}

// everywhere is every way there is.
func everywhere(t testing.TB) []target { return []target{local(), overSSH(t), inContainer(t)} }

// answer is what came out of a call.
type answer struct {
	stdout, stderr string
	code           int // -1 after a fatal signal to the client
}

func (a answer) String() string {
	return fmt.Sprintf("exit code %d, stdout %.1000q, stderr %.1000q", a.code, a.stdout, a.stderr)
}

// call runs a program there and waits for its end. A client that can't be started gives
// the error.
func (tg target) call(t testing.TB, argv ...string) (answer, error) {
	t.Helper()
	var stdout bytes.Buffer
	a, err := tg.stream(t, &stdout, argv...)
	a.stdout = stdout.String()
	return a, err
}

// stream is call with standard output going to w.
func (tg target) stream(t testing.TB, w io.Writer, argv ...string) (answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	line := tg.line(argv...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr // both are drained at once
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s: %.200q did not end", tg.name, argv)
	}
	if cmd.ProcessState == nil {
		return answer{}, err
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", tg.name, err)
	}
	return answer{stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}, nil
}

// simplex runs the binary there.
func (tg target) simplex(t testing.TB, args ...string) answer {
	t.Helper()
	a, err := tg.call(t, append([]string{shared.executable}, args...)...)
	if err != nil {
		t.Fatalf("%s: %v", tg.name, err)
	}
	return a
}

// start runs a program there and returns its client at once; it is killed with the test.
func (tg target) start(t testing.TB, stdout io.Writer, argv ...string) *client {
	t.Helper()
	line := tg.line(argv...)
	c := &client{t: t, cmd: exec.Command(line[0], line[1:]...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = stdout, &c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() { c.kill(syscall.SIGKILL) })
	return c
}

// client is a transport at work on this machine.
type client struct {
	t      testing.TB
	cmd    *exec.Cmd
	stderr bytes.Buffer // read it once done is closed
	done   chan struct{}
}

// kill sends a signal to the transport, not to what it started, and waits for its end.
func (c *client) kill(s syscall.Signal) {
	_ = c.cmd.Process.Signal(s)
	<-c.done
}

// exits waits for the end and gives the exit code.
func (c *client) exits() int {
	c.t.Helper()
	<-c.done
	return c.cmd.ProcessState.ExitCode()
}

// plant puts a state into an allocation there.
func (tg target) plant(t testing.TB, directory string, files map[string]string) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := tg.put(state, directory); err != nil {
		t.Fatalf("%s: %v", tg.name, err)
	}
}
