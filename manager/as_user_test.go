package manager

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"simplex/internal/durable"
)

type (
	sysProcAttr = syscall.SysProcAttr
	credential  = syscall.Credential
)

// copyOfSelf is the test binary in a place that other users reach.
func copyOfSelf(tb testing.TB, dir string) string {
	tb.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, "self")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// at gives a hook that acts once, at a label.
func at(label string, act func() error) durable.Hook {
	done := false
	return func(now string, _ durable.Op) error {
		if done || now != label {
			return nil
		}
		done = true
		return act()
	}
}
