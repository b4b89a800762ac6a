package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/sandbox"
)

// place is a workspace, a temporary directory, and a directory outside both with
// one file in it.
type place struct{ workspace, temp, outside string }

func newPlace(t testing.TB) (place, *sandbox.Box) {
	t.Helper()
	if err := sandbox.Available(); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	p := place{filepath.Join(root, "work"), filepath.Join(root, "temp"), filepath.Join(root, "outside")}
	for _, dir := range []string{p.workspace, p.temp, p.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"keep", "sub"} {
		if err := os.WriteFile(filepath.Join(p.outside, file), []byte("whole"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := &sandbox.Box{Workspace: p.workspace, Temp: p.temp}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return p, s
}

// untouched fails unless the directory outside is as it was made.
func (p place) untouched(t testing.TB, after string) {
	t.Helper()
	list, err := os.ReadDir(p.outside)
	if err != nil || len(list) != 2 {
		t.Fatalf("after %s: %v, %v", after, list, err)
	}
	for _, entry := range list {
		raw, err := os.ReadFile(filepath.Join(p.outside, entry.Name()))
		if err != nil || string(raw) != "whole" {
			t.Fatalf("after %s: %s holds %q, %v", after, entry.Name(), raw, err)
		}
	}
}

// attempts are ways to change files at $D; each must fail where $D is outside.
var attempts = []string{
	`echo x > $D/new`,
	`echo x > $D/keep`,
	`echo x >> $D/keep`,
	`truncate -s 1 $D/keep`,
	`rm $D/keep`,
	`mkdir $D/dir`,
	`mkfifo $D/fifo`,
	`ln -s x $D/link`,
	`ln $D/keep here`,
	`ln mine $D/hard`,
	`mv $D/keep moved`,
	`mv mine $D/mine`,
	`mv $D/keep $D/other`,
	`ln -s $D/keep through && echo x > through`,
	`cp --remove-destination mine $D/keep`,
	`python3 -c "import os; os.truncate('$D/keep', 0)"`,
	`python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('$D/s')"`,
	`(cd $D && echo x > relative)`,
	`setsid sh -c "echo x > $D/escaped"`,
	`sh -c "sh -c 'echo x > $D/grandchild'"`,
}

func TestSandboxKeepsOutsideWhole(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{false, true} {
		p, box := newPlace(t)
		store := newStore(t, Config{Sandbox: box})
		for _, attempt := range attempts {
			spec := sh("echo mine > mine; " + attempt)
			spec.WorkingDirectory, spec.TTY = p.workspace, tty
			spec.Environment = []string{"D=" + p.outside}
			s := run(t, store, spec)
			if exitCode(t, s) == 0 {
				t.Errorf("tty %v: %s succeeded: %s", tty, attempt, output(s, capture.Both))
			}
			p.untouched(t, attempt)
			_ = store.Release(s.ID())
			clean(t, p.workspace)
		}
	}
}

// TestSandboxLetsInsideBe shows that the same acts work below both directories,
// so that the other test does not pass by a broken command.
func TestSandboxLetsInsideBe(t *testing.T) {
	t.Parallel()
	p, box := newPlace(t)
	store := newStore(t, Config{Sandbox: box})
	for i, attempt := range attempts {
		dir := filepath.Join([]string{p.workspace, p.temp}[i%2], "deep")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "keep"), []byte("whole"), 0o644); err != nil {
			t.Fatal(err)
		}
		spec := sh("echo mine > mine; " + attempt)
		spec.WorkingDirectory = p.workspace
		spec.Environment = []string{"D=" + dir}
		s := run(t, store, spec)
		if exitCode(t, s) != 0 {
			t.Errorf("%s in %s: %s", attempt, dir, output(s, capture.Stderr))
		}
		_ = store.Release(s.ID())
		clean(t, p.workspace)
		clean(t, p.temp)
	}
}

func clean(t testing.TB, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSandboxIsNoOtherHindrance shows what a confined child still has: its streams,
// its terminal, /dev/null, reading, its exit status, a long script, TMPDIR.
func TestSandboxIsNoOtherHindrance(t *testing.T) {
	t.Parallel()
	p, box := newPlace(t)
	store := newStore(t, Config{Sandbox: box})
	for _, c := range []struct {
		name, script string
		tty          bool
		want         string
		code         int
	}{
		{name: "null", script: `echo lost > /dev/null && echo kept`, want: "kept\n"},
		{name: "reading", script: `cat "$D/keep"`, want: "whole"},
		{name: "status", script: `exit 7`, code: 7},
		{name: "signal", script: `kill -9 $$`, code: 128 + 9},
		{name: "own stream by name", script: `echo x > /dev/stdout`, want: "x\n"},
		{name: "temp", script: `f=$(mktemp) && echo ${f%/*}`, want: p.temp + "\n"},
		{name: "descriptors", script: `ls /proc/self/fd | tr '\n' ' '`, want: "0 1 2 3 "}, // 3 is the list itself
		{name: "environment", script: `env -u PWD -u _ -u SHLVL -u OLDPWD | grep -c "^D=" `, want: "1\n"},
		{name: "terminal", script: `echo a > /dev/tty; echo b > $(tty); stty size`, tty: true, want: "a\r\nb\r\n24 80\r\n"},
		{name: "no terminal", script: `echo a > /dev/tty`, code: 2},
		{name: "another terminal", script: `for f in /dev/pts/*; do [ $f = $(tty) ] || : > $f; done 2>&1 | grep -vc denied`, tty: true, want: "0\r\n", code: 1},
		{name: "privileges", script: `grep NoNewPrivs /proc/self/status`, want: "NoNewPrivs:\t1\n"},
		{name: "nodes", script: `mknod node c 1 3`, code: 1},
	} {
		spec := sh(c.script)
		spec.WorkingDirectory, spec.TTY = p.workspace, c.tty
		spec.Environment = []string{"D=" + p.outside}
		s := run(t, store, spec)
		stream := capture.Stdout
		if c.tty {
			stream = capture.Terminal
		}
		if got := output(s, stream); exitCode(t, s) != c.code || got != c.want {
			t.Errorf("%s: exit %d, %q; want %d, %q (%s)", c.name, exitCode(t, s), got, c.code, c.want, output(s, capture.Both))
		}
		_ = store.Release(s.ID())
	}
	long := ShellSpec("echo long; : " + strings.Repeat("x", MaxArgument+1))
	if s := run(t, store, long); output(s, capture.Stdout) != "long\n" {
		t.Errorf("long script: %q %q", output(s, capture.Stdout), output(s, capture.Stderr))
	}
}

func TestSandboxedLaunchFailures(t *testing.T) {
	t.Parallel()
	p, box := newPlace(t)
	store := newStore(t, Config{Sandbox: box})
	garbage := filepath.Join(p.workspace, "garbage")
	if err := os.WriteFile(garbage, []byte("\x00\x01"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(p.workspace, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for executable, want := range map[string]error{garbage: unix.ENOEXEC, plain: unix.EACCES} {
		_, err := store.Spawn(t.Context(), LaunchSpec{Executable: executable})
		if pe, ok := errors.AsType[*Error](err); !ok || pe.Stage != StageSpawn || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", executable, err, want)
		}
	}
	big := sh("true")
	for range 100 {
		big.Arguments = append(big.Arguments, strings.Repeat("x", 100<<10))
	}
	if _, err := store.Spawn(t.Context(), big); err == nil {
		t.Error("10 MiB of arguments were taken")
	} else if _, ok := errors.AsType[*SizeError](err); !ok {
		t.Errorf("10 MiB of arguments: %v", err)
	}
	if got := len(store.List()); got != 0 {
		t.Errorf("%d sessions are left", got)
	}
	gone := NewStore(Config{Sandbox: &sandbox.Box{Workspace: filepath.Join(p.workspace, "gone"), Temp: p.temp}})
	if _, err := gone.Spawn(t.Context(), sh("true")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
	if err := gone.cfg.Sandbox.Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check: %v", err)
	}
	if err := (&sandbox.Box{Workspace: "work", Temp: p.temp}).Check(); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("relative workspace: %v", err)
	}
}

// TestSandboxHelperHasNoEnvironment: what the child's environment preloads must not run
// before the rules bind.
func TestSandboxHelperHasNoEnvironment(t *testing.T) {
	t.Parallel()
	p, box := newPlace(t)
	c, err := box.Confine(sandbox.Target{Path: "/bin/sh", Argv: []string{"sh"}, Env: []string{"LD_PRELOAD=evil"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	spec := sh("echo $LD_PRELOAD")
	spec.WorkingDirectory = p.workspace
	spec.Environment = []string{"LD_PRELOAD=./evil.so"}
	s := run(t, newStore(t, Config{Sandbox: box}), spec)
	// The loader complains once for the shell, and not for the helper before it.
	if got := strings.Count(output(s, capture.Stderr), "evil.so"); got != 1 {
		t.Errorf("%d complaints: %s", got, output(s, capture.Stderr))
	}
}

func BenchmarkConfinedStart(b *testing.B) {
	_, box := newPlace(b)
	for name, s := range map[string]*sandbox.Box{"plain": nil, "confined": box} {
		b.Run(name, func(b *testing.B) {
			store := newStore(b, Config{Sandbox: s})
			for b.Loop() {
				session := run(b, store, sh(":"))
				_ = store.Release(session.ID())
			}
		})
	}
}
