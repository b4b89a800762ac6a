package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// A container with a worker, its shell, a zombie and an orphan.
func TestEntered(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	self := strconv.Itoa(os.Getpid())
	for pid, stat := range map[string]string{
		self:    self + " (simplex-idle) S 0 1 1 0",
		"70001": "70001 (simplex) S 0 70001 70001 0",
		"70002": "70002 (sh) S 70001 70002 70002 0",
		"70003": "70003 (a) b) 0 (c) R 0 70003 70003 0",
		"70004": "70004 (x) Z 0 70004 70004 0",
		"70005": "70005 (orphan) S 1 70005 70005 0",
		"70006": "",
		"self":  "70007 (x) S 0 1 1 0",
	} {
		if err := os.MkdirAll(filepath.Join(proc, pid), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, pid, "stat"), []byte(stat), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := entered(proc)
	slices.Sort(got)
	if want := []int{70001, 70003}; !slices.Equal(got, want) {
		t.Errorf("entered %v, want %v", got, want)
	}
	if got := entered(filepath.Join(proc, "none")); got != nil {
		t.Errorf("without a process table: %v", got)
	}
}
