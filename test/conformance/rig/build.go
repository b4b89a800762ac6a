package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program under test. Main sets both before the first test runs.
var (
	Binary string // with the race detector where Main was asked for it
	Plain  string // always without: for what is measured, or done very often
)

// Main builds the binary once, with the race detector or without, runs the tests of a
// package and gives their exit code. It is for TestMain.
func Main(m *testing.M, race bool) int {
	dir, err := os.MkdirTemp("", "simplex-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	Plain = filepath.Join(dir, "simplex")
	Binary = Plain
	// These are the flags of the builds that a developer has in the cache anyway.
	err = build("-trimpath", "-o", Plain)
	if err == nil && race {
		Binary = filepath.Join(dir, "simplex-race")
		err = build("-race", "-o", Binary)
	}
	if err != nil {
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

func build(flags ...string) error {
	out, err := exec.Command("go", append(append([]string{"build"}, flags...), "simplex/cmd/simplex")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}
