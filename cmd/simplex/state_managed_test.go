package main

import (
	"encoding/base64"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// allocation prepares storage for the rig's worker and gives its directory.
func (r *rig) allocation() string {
	r.t.Helper()
	directory := filepath.Join(r.dir, "allocations", "a")
	request, err := json.Marshal(object{
		"version": 1, "request_id": "r1", "operation": "prepare", "allocation_id": "a", "directory": directory,
		"configuration": readFile(r.t, r.configuration()),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	launch(r.t, r.dir, "manage", "--request", base64.StdEncoding.EncodeToString(request)).exits(0)
	return directory
}

// TestStateOfAnAllocation: the commands on saved states find a managed session by its
// reference, beside no worker; a chat does not take a reference at all.
func TestStateOfAnAllocation(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo up >ready; exec sleep 5", 600000)))
	wait := meet(t, r.dir, "ready")
	directory := r.allocation()
	reference := filepath.Join(directory, "config", "config.yaml")
	p := launch(t, r.dir, "run", "--config", reference, "--session", "s1")
	r.expect("ready")
	r.payload(message("q1", "work", mode("approve")))
	wait("ready")

	command := func(code int, says string, args ...string) {
		t.Helper()
		c := launch(t, r.dir, append(args, "--config", reference)...)
		c.exits(code)
		if text := c.stdout.String() + c.stderr.String(); !strings.Contains(text, says) {
			t.Errorf("%v says %q, want %q", args, text, says)
		}
	}
	for _, verb := range []string{"settle", "export", "import"} {
		command(1, "in use", "state", verb, "--session", "s1")
	}
	command(1, "reference of a managed allocation", "chat", "--prompt", "hi")
	command(1, "reference of a managed allocation", "chat", "--offline", "--prompt", "hi")
	p.kill()

	state := filepath.Join(directory, "state", "state.json")
	command(0, fmt.Sprintf("settled session s1 in %s", state), "state", "settle", "--session", "s1")
	command(0, "imported session s1 from "+state, "state", "import", "--session", "s1")
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	command(0, "to "+state, "state", "export", "--session", "s1")
	if !strings.Contains(readFile(t, state), `"phase": "projection"`) {
		t.Error("what was settled is lost on the way")
	}
	command(1, "reference of a managed allocation", "chat", "--prompt", "hi")

	// A copy of the reference belongs to nobody.
	reference = writeFile(t, filepath.Join(r.dir, "copy.yaml"), readFile(t, reference))
	command(1, "copied or moved", "state", "settle", "--session", "s1")
	command(1, "reference of a managed allocation", "chat", "--prompt", "hi")
}
