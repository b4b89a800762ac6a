package program_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"simplex/internal/program"
)

// patience bounds waits for what happens by itself in a sound package.
const patience = 30 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a program that is a few lines of shell.
func shell(script string) program.Config {
	return program.Config{
		Path: "/bin/sh", Args: []string{"sh", "-c", script}, Environment: []string{"PATH=/usr/bin:/bin"},
	}
}

// start starts it and takes its first line for the word that it is set up.
func start(t *testing.T, cfg program.Config) (c *program.Child, word string) {
	t.Helper()
	c, err := program.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var line []byte
	for one := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); line = append(line, one...) {
		if _, err := io.ReadFull(c.Stdout, one); err != nil {
			t.Fatalf("%q, %v", line, errors.Join(err, c.End(0, nil)))
		}
	}
	return c, strings.TrimSuffix(string(line), "\n")
}

// journal is a log to be looked at.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// TestEnd tells by its status what a program died of: each step of the end is taken
// only where the one before did not help.
func TestEnd(t *testing.T) {
	t.Parallel()
	hurried := make(chan struct{})
	close(hurried)
	for _, c := range []struct {
		name, script string
		input, grace time.Duration
		hurry        <-chan struct{}
		want         string // "" is exit status 0
	}{
		{name: "input", script: `echo up; read -r x`, input: patience, grace: patience, want: "exit status 1"}, // of read
		{name: "no time for input", script: `trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done`, grace: patience, want: "exit status 9"},
		{name: "term", script: `echo up; exec sleep 1000`, input: time.Millisecond, grace: patience, want: "signal: terminated"},
		{name: "in order", script: `trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`, input: time.Millisecond, grace: patience},
		{name: "deaf", script: `trap '' TERM; echo up; while :; do sleep 0.01; done`, grace: 50 * time.Millisecond, want: "signal: killed"},
		{name: "hurry", script: `trap '' TERM; echo up; while :; do sleep 0.01; done`, input: time.Hour, grace: time.Hour, hurry: hurried, want: "signal: killed"},
		{name: "stopped", script: `trap 'exit 9' TERM; echo up; kill -STOP $$; while :; do sleep 0.01; done`, grace: patience, want: "exit status 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := shell(c.script)
			cfg.InputGrace = c.input
			p, _ := start(t, cfg)
			begin := time.Now()
			if err := p.End(c.grace, c.hurry); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took >= patience {
				t.Errorf("it took %s", took)
			}
			got := ""
			if err := p.Status(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("it died of %q, want %q", got, c.want)
			}
		})
	}
}

// TestGroupGoesWithItsLeader: who was started by the program and stayed in its group
// is gone with it, also where the program ended by itself.
func TestGroupGoesWithItsLeader(t *testing.T) {
	t.Parallel()
	const deaf = `sh -c 'trap "" TERM; while :; do sleep 0.01; done' & `
	for script, input := range map[string]time.Duration{
		deaf + `echo $!; read -r x; exit 3`:                                patience,
		deaf + `trap 'exit 3' TERM; echo $!; while :; do sleep 0.01; done`: 0,
	} {
		cfg := shell(script)
		cfg.InputGrace = input
		c, member := start(t, cfg)
		if group, err := unix.Getpgid(c.PID()); err != nil || group != c.PID() || !alive(t, member) {
			t.Errorf("group %d of %d: %v", group, c.PID(), err)
		}
		if err := c.End(patience, nil); err != nil {
			t.Error(err)
		}
		<-c.Exited()
		if err := c.Status(); err == nil || err.Error() != "exit status 3" {
			t.Errorf("status: %v", err)
		}
		for deadline := time.Now().Add(patience); alive(t, member); { // KILL takes effect a little later
			if time.Now().After(deadline) {
				t.Fatal("somebody of the group lives on")
			}
		}
	}
}

// alive tells whether the process exists and is no zombie.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw[bytes.LastIndexByte(raw, ')')+2] != 'Z'
}

// TestEscapedDescendantHoldsNothingUp: it left the group and has the streams.
func TestEscapedDescendantHoldsNothingUp(t *testing.T) {
	t.Parallel()
	c, pid := start(t, shell(`setsid sh -c 'echo $$; exec sleep 1000' & wait`))
	begin := time.Now()
	if err := c.End(patience, nil); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took >= patience {
		t.Errorf("it took %s", took)
	}
	if out, err := exec.Command("kill", "-KILL", pid).CombinedOutput(); err != nil {
		t.Errorf("the escaped one should have been there: %s", out)
	}
}

func TestOwnEnd(t *testing.T) {
	t.Parallel()
	c, _ := start(t, shell(`echo up; read -r x; exit 4`))
	never, closed := make(chan struct{}), make(chan struct{})
	close(closed)
	if c.Ending(closed) || c.Ending(never) {
		t.Error("ending before its end")
	}
	if _, err := c.Stdin.WriteString("go\n"); err != nil {
		t.Error(err)
	}
	if err := c.Status(); err == nil || err.Error() != "exit status 4" {
		t.Errorf("status: %v", err)
	}
	for range 100 { // a hurry does not hide an end
		if !c.Ending(closed) {
			t.Fatal("not ended")
		}
	}
	if err := c.End(0, nil); err != nil {
		t.Error(err)
	}
}

// TestWhatTheProgramGets: its directory, arguments and environment, three streams, and
// no descriptor that this package or another one here has open.
func TestWhatTheProgramGets(t *testing.T) {
	t.Parallel()
	dir, secret := t.TempDir(), t.TempDir()
	open, err := os.Open(secret)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	other, _ := start(t, shell(`echo up; exec sleep 1000`)) // whose pipes are nobody else's
	defer func() { _ = other.End(0, nil) }()
	cfg := shell(`echo "$PWD $0 $EXTRA $HOME:" $(readlink /proc/$$/fd/*)`)
	cfg.Args, cfg.WorkingDirectory = append(cfg.Args, "zero"), dir
	cfg.Environment = append(cfg.Environment, "EXTRA=1")
	c, got := start(t, cfg)
	if !strings.HasPrefix(got, dir+" zero 1 : pipe:") {
		t.Errorf("%q", got)
	}
	for _, foreign := range []string{secret, link(t, other.Stdin), link(t, other.Stdout), link(t, c.Stdin)} {
		if want := foreign == link(t, c.Stdin); strings.Contains(got, foreign) != want {
			t.Errorf("%s is among %q: %v", foreign, got, !want)
		}
	}
	if err := c.End(patience, nil); err != nil {
		t.Error(err)
	}
}

// link is what /proc calls the file.
func link(t *testing.T, f *os.File) string {
	t.Helper()
	stat, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("pipe:[%d]", stat.Sys().(*syscall.Stat_t).Ino)
}

// TestStartFunction: whoever confines programs starts them, and may refuse to.
func TestStartFunction(t *testing.T) {
	t.Parallel()
	cfg := shell(`echo $CONFINED`)
	cfg.Start = func(cmd *exec.Cmd) error {
		cmd.Env = append(cmd.Env, "CONFINED=yes")
		return cmd.Start()
	}
	c, got := start(t, cfg)
	if got != "yes" {
		t.Errorf("%q", got)
	}
	if err := c.End(patience, nil); err != nil {
		t.Error(err)
	}
	cfg.Start = func(*exec.Cmd) error { return errors.ErrUnsupported }
	if _, err := program.Start(cfg); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("refused: %v", err)
	}
	cfg.Start, cfg.Path = nil, "/no/such/program"
	if _, err := program.Start(cfg); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not there: %v", err)
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := shell(`i=0; while [ $i -lt 1500 ]; do printf 'line %d %02000d\a\r\n' $i 7 >&2; i=$((i+1)); done; echo up; read -r x`)
	cfg.Logger, cfg.Speaker = log.logger(), "server"
	c, _ := start(t, cfg)
	if err := c.End(patience, nil); err != nil {
		t.Error(err)
	}
	got := log.String()
	for _, want := range []string{`msg="server says" stderr="line 0 0`, "line 999 ", `msg="server says more than is logged" lines=1000`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(got, "line 1000 ") || strings.Count(got, "\n") != 1001 || len(got) > 1300<<10 {
		t.Errorf("%d lines, %d bytes were logged", strings.Count(got, "\n"), len(got))
	}
}

func TestLogIsCleanAndComplete(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := shell(`printf 'one\a\r\ntwo' >&2; echo up`)
	cfg.Logger = log.logger()
	c, _ := start(t, cfg)
	if err := c.End(patience, nil); err != nil {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, "msg=\"program says\" stderr=\"one\uFFFD\"\n") || !strings.Contains(got, "stderr=two\n") {
		t.Errorf("%s", got)
	}
}
