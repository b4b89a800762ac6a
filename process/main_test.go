package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/kin"
	"simplex/process/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.ConfineMain(os.Args)
	goleak.VerifyTestMain(m)
}

// patience bounds waits that end by an event in a sound package.
const patience = 30 * time.Second

func newStore(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Grace == 0 {
		cfg.Grace = 2 * time.Second
	}
	store := NewStore(cfg)
	t.Cleanup(func() {
		if err := store.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return store
}

// sh is the launch of a script by the plain shell.
func sh(script string) LaunchSpec {
	return LaunchSpec{Executable: "/bin/sh", Arguments: []string{"-c", script}, InheritEnvironment: true}
}

func spawn(t testing.TB, store *Store, spec LaunchSpec) *Session {
	t.Helper()
	s, err := store.Spawn(context.Background(), spec)
	if err != nil {
		t.Fatalf("spawn %s: %v", spec.Executable, err)
	}
	return s
}

func await(t testing.TB, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
	}
}

// run spawns and waits until the session is complete.
func run(t testing.TB, store *Store, spec LaunchSpec) *Session {
	t.Helper()
	s := spawn(t, store, spec)
	await(t, "completion", s.Complete())
	return s
}

// output is the whole retained output of a stream.
func output(s *Session, stream capture.Stream) string {
	return string(s.Read(stream, true)[0].Data)
}

func exitCode(t testing.TB, s *Session) int {
	t.Helper()
	code := s.Snapshot().ExitCode
	if code == nil {
		t.Fatalf("no exit code, state %s", s.Snapshot().State)
	}
	return *code
}

// gate is a named pipe by which scripts report: each line is one event.
type gate struct {
	path string
	file *os.File
}

func newGate(t testing.TB) *gate {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gate")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return &gate{path, file}
}

// wait returns once n lines came.
func (g *gate) wait(t testing.TB, n int) string {
	t.Helper()
	if err := g.file.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var all []byte
	one := make([]byte, 1)
	for bytes.Count(all, []byte("\n")) < n {
		if _, err := g.file.Read(one); err != nil {
			t.Fatalf("gate after %q: %v", all, err)
		}
		all = append(all, one...)
	}
	return string(all)
}

// marked finds living processes that carry the mark in their environment,
// whoever their parent is.
func marked(t testing.TB, mark string) []string {
	t.Helper()
	var found []string
	for _, e := range processes(t) {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", e.PID))
		if err != nil || !bytes.Contains(environ, []byte(mark)) || !e.Living() {
			continue
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.PID))
		found = append(found, fmt.Sprintf("%d %s", e.PID, strings.ReplaceAll(string(line), "\x00", " ")))
	}
	return found
}

// zombies are the dead children nobody reaped.
func zombies(t testing.TB) []int {
	t.Helper()
	var dead []int
	for _, e := range processes(t) {
		if e.Parent == os.Getpid() && !e.Living() {
			dead = append(dead, e.PID)
		}
	}
	return dead
}

func processes(t testing.TB) []kin.Entry {
	t.Helper()
	table, err := kin.Scan()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// descriptors lists the numbers in a directory of open files.
func descriptors(t testing.TB, dir string) []int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var fds []int
	for _, entry := range list {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, fd)
	}
	return fds
}
