package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A response that nobody reads is a failure like any other: exit code 1 and no signal.
func TestManageIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.Command("simplex", "manage", "--request", "e30=")
	cmd.Stdout, cmd.Stderr = writer, &stderr
	err = cmd.Run()
	if cerr := writer.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != exitFailure || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
