package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSavesOfARun counts what reaches the disk, from outside: the contract's boundaries,
// each with one fsync of the file and one of its directory, whatever the number of calls
// in a batch. A new session adds the parents of its three new directories once.
func TestSavesOfARun(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace (apt-get install strace): ", err)
	}
	for scenario, saves := range map[string]int{
		"text":      2, // run_finished, shutdown
		"turns:1":   5, // before_tools, results_ready, step_finished, and those two
		"two-tools": 5,
		"turns:4":   14,
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			trace := filepath.Join(dir, "trace")
			cmd := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2",
				"simplex", "chat", "--offline="+scenario, "--approve", "--prompt", "go")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			raw, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			published := len(regexp.MustCompile(`renameat2?\(.*"state\.json"`).FindAll(raw, -1))
			synced := strings.Count(string(raw), "sync(")
			if published != saves || synced != 2*saves+3 {
				t.Errorf("%d publications and %d fsyncs, want %d and %d", published, synced, saves, 2*saves+3)
			}
		})
	}
}
