package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program under test. Main sets both before the first test runs.
var (
	Binary string // with the race detector where Main was asked for it
	Plain  string // always without: for what is measured, or done very often
)

// Main builds the binary, with the race detector or without, runs the tests of a package
// and gives their exit code. It is for TestMain.
func Main(m *testing.M, race bool) int {
	dir, err := os.MkdirTemp("", "simplex-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := binaries(dir, race); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The race detector would let each process sleep for a second at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func binaries(dir string, race bool) error {
	Plain = filepath.Join(dir, "simplex")
	Binary = Plain
	if err := Build(Plain); err != nil || !race {
		return err
	}
	Binary = filepath.Join(dir, "simplex-race")
	return run(os.Environ(), Binary, "-race")
}

// Build puts the program as the tree has it now at path, without the race detector and
// with its C code as it is shipped, whatever the tests have for theirs.
func Build(path string) error { return run(Environ(), path) }

// Environ is the environment for building what is shipped: without CGO_CFLAGS, which
// `make race` sets for the sake of a short compilation.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "CGO_CFLAGS=") })
}

// run has all other flags from the environment, as the test itself has them: that is how
// both compile their packages only once. And `go run`, unlike `go build`, keeps in the
// build cache what it has linked, so that packages of tests that build the same only copy
// it, and still checks that nothing has changed.
func run(environ []string, path string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"run"}, flags...), "-exec", "cp", "simplex/cmd/simplex", path)...)
	cmd.Env = environ
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}
