package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// resident is the resident set of a process in KiB, and its peak.
func resident(t *testing.T, pid int) (now, peak int) {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now)
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	if now == 0 {
		t.Fatalf("no VmRSS of %d", pid)
	}
	return now, peak
}

// busy is the processor time of all threads of a process.
func busy(t *testing.T, pid int) time.Duration {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("no threads of %d: %v", pid, err)
	}
	var sum time.Duration
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that ended
		}
		var ns int64
		if _, err := fmt.Sscan(string(raw), &ns); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}
