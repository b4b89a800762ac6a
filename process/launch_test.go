package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/execve"
)

func TestChildGetsExactlyTheEnvironmentAsked(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{Environment: func() []string { return []string{"HOST=1", "PATH=/usr/bin:/bin"} }})
	s := run(t, store, LaunchSpec{Executable: "env", Environment: []string{"X=1", "X=2"}})
	if got := output(s, capture.Stdout); got != "X=2\n" { // found by the host's PATH, which it does not get
		t.Errorf("got %q", got)
	}
	s = run(t, store, LaunchSpec{Executable: "env", InheritEnvironment: true, Environment: []string{"HOST=2"}})
	if got := output(s, capture.Stdout); got != "HOST=2\nPATH=/usr/bin:/bin\n" {
		t.Errorf("got %q", got)
	}
}

func TestExecutableRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second := write("a/tool", 0o755), write("b/tool", 0o755)
	write("a/plain", 0o644)
	runnable := write("b/plain", 0o755)
	write("a/never", 0o644)
	write("a/sub/x", 0o755)
	search := "/nonexistent::" + dir + "/a:" + dir + "/b"

	for _, c := range []struct {
		name, path, want string
		stage            Stage
		err              error
	}{
		{name: "tool", path: search, want: first},
		{name: "tool", path: dir + "/b", want: second},
		{name: "plain", path: search, want: runnable},
		{name: first, path: "", want: first},
		{name: "never", path: search, stage: StageSpawn, err: fs.ErrPermission},
		{name: "sub", path: search, stage: StageResolve, err: ErrNotFound},
		{name: "absent", path: search, stage: StageResolve, err: ErrNotFound},
		{name: "tool", path: "", stage: StageResolve, err: ErrNotFound},
		{name: "./tool", path: search, stage: StageResolve, err: ErrNotFound},
		{name: dir, path: search, stage: StageSpawn, err: unix.EISDIR},
		{name: first + "/x", path: search, stage: StageResolve, err: ErrNotFound},
		{name: "", path: search, stage: StageResolve, err: fs.ErrInvalid},
	} {
		got, err := resolveExecutable(c.name, c.path)
		if c.err == nil && (err != nil || got != c.want) {
			t.Errorf("%s in %s: got %q, %v", c.name, c.path, got, err)
		}
		if c.err != nil {
			failure, ok := errors.AsType[*Error](err)
			if !ok || failure.Stage != c.stage || !errors.Is(err, c.err) {
				t.Errorf("%s in %s: got %v, want %s: %v", c.name, c.path, err, c.stage, c.err)
			}
		}
	}
}

func TestRelativePathsAreTheHosts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("here", []byte("#!/bin/sh\npwd\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	store := newStore(t, Config{})
	s := run(t, store, LaunchSpec{Executable: "./here", WorkingDirectory: "sub", InheritEnvironment: true})
	if got := output(s, capture.Stdout); got != filepath.Join(dir, "sub")+"\n" {
		t.Errorf("relative path: %q", got)
	}
	s = run(t, store, LaunchSpec{Executable: "here", WorkingDirectory: "sub", Environment: []string{"PATH=."}})
	if got := output(s, capture.Stdout); got != filepath.Join(dir, "sub")+"\n" {
		t.Errorf("relative PATH hit: %q", got)
	}
}

// BR-007 and all other ways a launch fails: a typed error, and a table and
// descriptors as before.
func TestLaunchFailures(t *testing.T) {
	store := newStore(t, Config{})
	noShebang := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(noShebang, []byte("echo no"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", MaxArgument+1)
	many := make([]string, 60)
	for i := range many {
		many[i] = long[:MaxArgument]
	}
	before := openFDs(t)
	for name, c := range map[string]struct {
		spec  LaunchSpec
		stage Stage
		is    error
	}{
		"not found":      {LaunchSpec{Executable: "no-such-program"}, StageResolve, ErrNotFound},
		"not executable": {LaunchSpec{Executable: "/etc/passwd"}, StageSpawn, fs.ErrPermission},
		"no format":      {LaunchSpec{Executable: noShebang}, StageSpawn, unix.ENOEXEC},
		"tty no format":  {LaunchSpec{Executable: noShebang, TTY: true}, StageSpawn, unix.ENOEXEC},
		"no directory":   {LaunchSpec{Executable: "/bin/sh", WorkingDirectory: "/nonexistent"}, StageSpawn, fs.ErrNotExist},
		"a file as cwd":  {LaunchSpec{Executable: "/bin/sh", WorkingDirectory: "/etc/passwd"}, StageSpawn, unix.ENOTDIR},
		"bad entry":      {LaunchSpec{Executable: "/bin/sh", Environment: []string{"x"}}, StageEnvironment, execve.ErrMalformedEntry},
		"NUL argument":   {LaunchSpec{Executable: "/bin/sh", Arguments: []string{"a\x00b"}}, StageSpawn, fs.ErrInvalid},
		"long argument":  {LaunchSpec{Executable: "/bin/sh", Arguments: []string{long}}, StageSpawn, nil},
		"long entry":     {LaunchSpec{Executable: "/bin/sh", Environment: []string{"K=" + long}}, StageSpawn, nil},
		"all together":   {LaunchSpec{Executable: "/bin/sh", Arguments: many}, StageSpawn, nil},
	} {
		_, err := store.Spawn(context.Background(), c.spec)
		failure, ok := errors.AsType[*Error](err)
		if !ok || failure.Stage != c.stage || failure.Subject != c.spec.Executable {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v is not %v", name, err, c.is)
		}
		if size, ok := errors.AsType[*SizeError](err); c.is == nil && (!ok || !strings.Contains(err.Error(), fmt.Sprint(size.Limit))) {
			t.Errorf("%s: the limit is not named: %v", name, err)
		}
	}
	if after := openFDs(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	if n := len(store.List()); n != 0 {
		t.Errorf("%d sessions of failed launches", n)
	}
	if s := run(t, store, sh("exit 0")); s.Snapshot().Number != 1 {
		t.Errorf("failed launches used up numbers: %d", s.Snapshot().Number)
	}
}

func TestLargestArgumentFits(t *testing.T) {
	t.Parallel()
	spec := sh(`printf %s "$1" | wc -c`)
	spec.Arguments = append(spec.Arguments, "sh", strings.Repeat("x", MaxArgument))
	if got := strings.TrimSpace(output(run(t, newStore(t, Config{}), spec), capture.Stdout)); got != fmt.Sprint(MaxArgument) {
		t.Errorf("got %s", got)
	}
}

// BR-006, BR-007: one shell whatever SHELL says, and no limit on the line.
func TestShellSpec(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{Environment: func() []string {
		return []string{"SHELL=/usr/bin/fish", "PATH=/usr/bin:/bin"}
	}})
	short := run(t, store, ShellSpec("[[ a == a ]] && echo yes; set -o pipefail; false | true; echo $?; echo $0"))
	if got, want := output(short, capture.Stdout), "yes\n1\n"+Shell()+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// The long line's own children must not see the descriptor it came by.
	body := strings.Repeat("0123456789abcde\n", 140000/16)
	long := run(t, store, ShellSpec("cat <<'END' | wc -c\n"+body+"END\necho $0 $LINENO; ls /proc/self/fd | wc -l; exit 7"))
	if got, want := strings.Fields(output(long, capture.Stdout)), []string{fmt.Sprint(len(body)), Shell(), "8753", "4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q; stderr %q", got, want, output(long, capture.Stderr))
	}
	if code := exitCode(t, long); code != 7 {
		t.Errorf("exit code %d", code)
	}
}

// BR-030: a child has descriptors 0, 1 and 2 and no other.
func TestChildrenInheritNothing(t *testing.T) {
	t.Parallel()
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	store := newStore(t, Config{})
	for _, spec := range []LaunchSpec{{}, {Input: InputPipe}, {TTY: true}} {
		spec.Executable, spec.Arguments, spec.InheritEnvironment = "sleep", []string{"1000"}, true
		s := spawn(t, store, spec)
		// The loader opens and closes libraries first; what was inherited stays.
		var fds []int
		for deadline := time.Now().Add(patience); !slices.Equal(fds, []int{0, 1, 2}); {
			fds = descriptors(t, fmt.Sprintf("/proc/%d/fd", s.Snapshot().PID))
			slices.Sort(fds)
			if time.Now().After(deadline) {
				t.Fatalf("input %d, tty %v: descriptors %v", spec.Input, spec.TTY, fds)
			}
		}
	}
}

func openFDs(t testing.TB) int {
	t.Helper()
	return len(descriptors(t, "/proc/self/fd"))
}
