package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
)

func tty(script string) LaunchSpec {
	spec := sh(script)
	spec.TTY = true
	return spec
}

// BR-013, BR-016: what a child finds, and an end that is no error.
func TestTerminalDefaults(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{Environment: func() []string {
		return []string{"PATH=/usr/bin:/bin", "TERM=xterm-256color"}
	}})
	s := run(t, store, tty(`stty size; echo $TERM; stty -a | grep -o -e '-echo ' -e ' icanon'; test -t 0 && test -t 1 && test -t 2 && echo all; ps -o sid= -p $$ | grep -c $$; echo both >&2`))
	out := s.Read(capture.Stdout, true) // every wish gets the merged stream
	if want := "24 80\r\ndumb\r\n icanon\r\n-echo \r\nall\r\n1\r\nboth\r\n"; len(out) != 1 || string(out[0].Data) != want {
		t.Errorf("got %q, want %q", out[0].Data, want)
	}
	if out[0].Stream != capture.Terminal || out[0].Truncated || exitCode(t, s) != 0 {
		t.Errorf("%+v", out[0])
	}
	spec := tty("echo $TERM")
	spec.Environment = []string{"TERM=vt100"}
	if got := output(run(t, store, spec), capture.Terminal); got != "vt100\r\n" {
		t.Errorf("explicit TERM: %q", got)
	}
}

func TestTerminalResize(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := spawn(t, store, tty("read x; stty size"))
	if err := s.Resize(132, 40); err != nil {
		t.Fatal(err)
	}
	if err := s.Send([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	await(t, "completion", s.Complete())
	if got := output(s, capture.Terminal); got != "40 132\r\n" {
		t.Errorf("got %q", got)
	}
	if err := run(t, store, sh(":")).Resize(1, 1); !errors.Is(err, ErrNotTerminal) {
		t.Errorf("pipes: %v", err)
	}
}

// BR-014: whatever a quick child printed is there once it is complete.
func TestTerminalLosesNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	for i := range 200 {
		s := run(t, store, tty("head -c 20480 /dev/zero | tr '\\0' x"))
		if got := output(s, capture.Terminal); got != strings.Repeat("x", 20480) {
			t.Fatalf("round %d: %d bytes", i, len(got))
		}
		if err := store.Release(s.ID()); err != nil {
			t.Fatal(err)
		}
	}
}

// BR-015: a line the terminal would cut is refused whole.
func TestTerminalLineLimit(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	s := spawn(t, store, tty("echo up >"+g.path+"; head -n 3 | wc -c"))
	g.wait(t, 1)
	line := func(n int) []byte { return []byte(strings.Repeat("y", n) + "\n") }
	err := s.Send(line(5000))
	if size, ok := errors.AsType[*SizeError](err); !ok || size.Limit != MaxTerminalLine {
		t.Fatalf("got %v", err)
	}
	for _, p := range [][]byte{line(3000), []byte(strings.Repeat("z", 4000)), line(94), line(5)} {
		if err := s.Send(p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "completion", s.Complete())
	if got := strings.TrimSpace(output(s, capture.Terminal)); got != fmt.Sprint(3001+4095+6) {
		t.Errorf("%s bytes arrived", got)
	}
}

func TestTerminalEndOfInputIsARequest(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := spawn(t, store, tty("cat; echo first; cat; echo second"))
	if err := s.Send([]byte("no line end")); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseInput(); err != nil {
		t.Fatal(err)
	}
	eventually(t, s, "no line endfirst\r\n")
	if s.Snapshot().InputClosed {
		t.Error("a request closed the input")
	}
	if err := s.Send([]byte("a line\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, s, "a line\r\n")
	if err := s.CloseInput(); err != nil {
		t.Fatal(err)
	}
	await(t, "completion", s.Complete())
	if got := output(s, capture.Terminal); got != "no line endfirst\r\na line\r\nsecond\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestTerminalSignalsAndBudget(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := run(t, store, tty("yes | head -c 200000; echo; kill -9 $$"))
	out := s.Read("", true)[0]
	if len(out.Data) != DefaultMaxOutputBytes || !out.Truncated || !strings.HasSuffix(string(out.Tail), "y\r\n\r\n") {
		t.Errorf("%d bytes, tail %q", len(out.Data), out.Tail[len(out.Tail)-10:])
	}
	if snap := s.Snapshot(); *snap.ExitCode != 137 {
		t.Errorf("%+v", snap)
	}
}

// Descendants that hold the terminal open do not hold the shutdown up.
func TestTerminalShutdown(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	mark := fmt.Sprintf("MARK=tty-%d", os.Getpid())
	spec := tty("trap '' HUP; sleep 909 & echo up >" + g.path + "; cat")
	spec.Environment = []string{mark}
	s := spawn(t, store, spec)
	g.wait(t, 1)
	if err := store.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if snap := s.Snapshot(); snap.State != Exited || snap.Signal != unix.SignalName(unix.SIGTERM) {
		t.Errorf("%+v", snap)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// A shell with job control gives each command a group of its own: the signal must
// reach what runs in the foreground, too.
func TestTerminalSignalReachesTheForeground(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	spec := ShellSpec("set -m; trap : TERM; (trap 'echo job; exit 3' TERM; echo up >" + g.path + "; while :; do sleep 0.01; done); echo code $?")
	spec.TTY = true
	s := spawn(t, store, spec)
	g.wait(t, 1)
	if sent, err := s.Signal(unix.SIGTERM); !sent || err != nil {
		t.Fatalf("%v, %v", sent, err)
	}
	await(t, "completion", s.Complete())
	if got := output(s, capture.Terminal); !strings.Contains(got, "job\r\n") || !strings.Contains(got, "code 3\r\n") {
		t.Errorf("got %q", got)
	}
}
