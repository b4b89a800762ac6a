package program_test

import (
	"os"
	"path/filepath"
	"testing"

	"simplex/internal/program"
)

// A program is found where it will itself look: the last PATH of its environment is the
// one that it gets.
func TestLookPathByThePathOfTheChild(t *testing.T) {
	t.Parallel()
	first, last := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, last} {
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := program.LookPath("tool", []string{"PATH=" + first, "HOME=/", "PATH=relative:" + last})
	if want := filepath.Join(last, "tool"); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := program.LookPath("tool", []string{"HOME=/"}); err == nil {
		t.Error("found without a PATH")
	}
}
