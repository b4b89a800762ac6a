package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// place is a workspace, a temporary directory, and a directory outside both with
// one file in it.
type place struct{ workspace, temp, outside string }

func newPlace(t testing.TB) (place, *Sandbox) {
	t.Helper()
	if err := SandboxAvailable(); err != nil {
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
	s := &Sandbox{Workspace: p.workspace, Temp: p.temp}
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
		p, sandbox := newPlace(t)
		store := newStore(t, Config{Sandbox: sandbox})
		for _, attempt := range attempts {
			spec := sh("echo mine > mine; " + attempt)
			spec.WorkingDirectory, spec.TTY = p.workspace, tty
			spec.Environment = []string{"D=" + p.outside}
			s := run(t, store, spec)
			if exitCode(t, s) == 0 {
				t.Errorf("tty %v: %s succeeded: %s", tty, attempt, output(s, Both))
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
	p, sandbox := newPlace(t)
	store := newStore(t, Config{Sandbox: sandbox})
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
			t.Errorf("%s in %s: %s", attempt, dir, output(s, Stderr))
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
	p, sandbox := newPlace(t)
	store := newStore(t, Config{Sandbox: sandbox})
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
		stream := Stdout
		if c.tty {
			stream = Terminal
		}
		if got := output(s, stream); exitCode(t, s) != c.code || got != c.want {
			t.Errorf("%s: exit %d, %q; want %d, %q (%s)", c.name, exitCode(t, s), got, c.code, c.want, output(s, Both))
		}
		_ = store.Release(s.ID())
	}
	long := ShellSpec("echo long; : " + strings.Repeat("x", MaxArgument+1))
	if s := run(t, store, long); output(s, Stdout) != "long\n" {
		t.Errorf("long script: %q %q", output(s, Stdout), output(s, Stderr))
	}
}

func TestSandboxedLaunchFailures(t *testing.T) {
	t.Parallel()
	p, sandbox := newPlace(t)
	store := newStore(t, Config{Sandbox: sandbox})
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
	gone := NewStore(Config{Sandbox: &Sandbox{Workspace: filepath.Join(p.workspace, "gone"), Temp: p.temp}})
	if _, err := gone.Spawn(t.Context(), sh("true")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no workspace: %v", err)
	}
	if err := gone.cfg.Sandbox.Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("check: %v", err)
	}
	if err := (&Sandbox{Workspace: "work", Temp: p.temp}).Check(); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("relative workspace: %v", err)
	}
}

// TestSandboxHelperHasNoEnvironment: what the child's environment preloads must not run
// before the rules bind.
func TestSandboxHelperHasNoEnvironment(t *testing.T) {
	t.Parallel()
	p, sandbox := newPlace(t)
	c, err := sandbox.confine(target{path: "/bin/sh", argv: []string{"sh"}, env: []string{"LD_PRELOAD=evil"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	c.close()
	spec := sh("echo $LD_PRELOAD")
	spec.WorkingDirectory = p.workspace
	spec.Environment = []string{"LD_PRELOAD=./evil.so"}
	s := run(t, newStore(t, Config{Sandbox: sandbox}), spec)
	// The loader complains once for the shell, and not for the helper before it.
	if got := strings.Count(output(s, Stderr), "evil.so"); got != 1 {
		t.Errorf("%d complaints: %s", got, output(s, Stderr))
	}
}

func TestSandboxStart(t *testing.T) {
	t.Parallel()
	p, sandbox := newPlace(t)
	start := func(s *Sandbox, script string) ([]byte, error) {
		var out strings.Builder
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.workspace, []string{"A=b", "PATH=/usr/bin:/bin"}, &out, &out
		if err := s.Start(cmd); err != nil {
			return nil, err
		}
		err := cmd.Wait()
		return []byte(out.String()), err
	}
	if out, err := start(sandbox, `echo $A $TMPDIR; echo x > inside`); err != nil || string(out) != "b "+p.temp+"\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := start(sandbox, `echo x > ../outside/new`); err == nil {
		t.Errorf("wrote outside: %s", out)
	}
	p.untouched(t, "a command")
	if out, err := start(nil, `echo $TMPDIR; echo x > ../outside/keep`); err != nil || string(out) != "\n" {
		t.Errorf("not confined: %s, %v", out, err)
	}
	cmd := exec.Command("/no/such/program")
	if err := sandbox.Start(cmd); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	if err := sandbox.Start(exec.Command("no-such-program")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no program in PATH: %v", err)
	}
}

func TestConfineMainReturnsForOthers(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"simplex"}, {"simplex", "run"}, {"simplex", confineCommand}, {"simplex", "run", confineCommand}} {
		ConfineMain(args)
	}
}

func FuzzTarget(f *testing.F) {
	f.Add("/bin/sh\x002\x00sh\x00-c\x00A=b\x00")
	f.Add("/bin/sh\x00-1\x00")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decodeTarget(text)
		if err != nil {
			return
		}
		again, err := got.encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeTarget(again)
		if err != nil || back.path != got.path || len(back.argv) != len(got.argv) || len(back.env) != len(got.env) {
			t.Fatalf("%q: %+v, then %+v, %v", text, got, back, err)
		}
	})
}

func BenchmarkConfinedStart(b *testing.B) {
	_, sandbox := newPlace(b)
	for name, s := range map[string]*Sandbox{"plain": nil, "confined": sandbox} {
		b.Run(name, func(b *testing.B) {
			store := newStore(b, Config{Sandbox: s})
			for b.Loop() {
				session := run(b, store, sh(":"))
				_ = store.Release(session.ID())
			}
		})
	}
}
