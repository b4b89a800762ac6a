package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	ConfineMain(os.Args)
	goleak.VerifyTestMain(m)
}

// newBox has both its directories, and beside them one outside with a file in it.
func newBox(t testing.TB) (box *Box, outside string) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	box, outside = &Box{filepath.Join(root, "work"), filepath.Join(root, "temp")}, filepath.Join(root, "outside")
	for _, dir := range []string{box.Workspace, box.Temp, outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "keep"), []byte("whole"), 0o644); err != nil {
		t.Fatal(err)
	}
	return box, outside
}

func TestSandboxStart(t *testing.T) {
	t.Parallel()
	box, outside := newBox(t)
	start := func(s *Box, script string) ([]byte, error) {
		var out strings.Builder
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = box.Workspace, []string{"A=b", "PATH=/usr/bin:/bin"}, &out, &out
		if err := s.Start(cmd); err != nil {
			return nil, err
		}
		err := cmd.Wait()
		return []byte(out.String()), err
	}
	if out, err := start(box, `echo $A $TMPDIR; echo x > inside`); err != nil || string(out) != "b "+box.Temp+"\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := start(box, `echo x > ../outside/new`); err == nil {
		t.Errorf("wrote outside: %s", out)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 1 {
		t.Errorf("outside: %v, %v", list, err)
	}
	if raw, err := os.ReadFile(filepath.Join(outside, "keep")); err != nil || string(raw) != "whole" {
		t.Errorf("outside: %q, %v", raw, err)
	}
	if out, err := start(nil, `echo $TMPDIR; echo x > ../outside/keep`); err != nil || string(out) != "\n" {
		t.Errorf("not confined: %s, %v", out, err)
	}
	cmd := exec.Command("/no/such/program")
	if err := box.Start(cmd); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
	if err := box.Start(exec.Command("no-such-program")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("no program in PATH: %v", err)
	}
}
