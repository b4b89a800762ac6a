//go:build crash

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// creating are the system calls that give a process another descriptor.
var creating = []string{
	"openat2", "openat", "open", "creat", "dup", "dup2", "dup3", "pipe2", "epoll_create1", "eventfd2",
	"socket", "memfd_create", "timerfd_create", "signalfd4", "inotify_init1",
}

// readings are the operations that change nothing, on an allocation with a state.
func readings() []operation {
	inspect := func(b *bench) string { return b.request("inspect", "a", "") }
	read := func(b *bench) string { return b.request("read_state", "a", "") }
	return []operation{
		{"inspect", func(b *bench) []string { return []string{b.prepare("a")} }, inspect, "a"},
		{"read_state json", func(b *bench) []string { return b.stated("json") }, read, "a"},
		{"read_state sqlite", func(b *bench) []string { return b.stated("sqlite") }, read, "a"},
	}
}

// stated makes an allocation and lets the real program leave a session in it.
func (b *bench) stated(format string) []string {
	b.tb.Helper()
	if a := b.run(b.request("prepare", "a", fmt.Sprintf(`,"configuration":"persistence: {format: %s}"`, format))); a.code != "" {
		b.tb.Fatal(a.text)
	}
	config := filepath.Join(b.root, "chat.yaml")
	text := fmt.Sprintf("driver_model: m\nproviders: {m: {plugin: offline, model: offline}}\npersistence: {directory: %q, format: %s}\n", b.dir("a"), format)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.tb.Fatal(err)
	}
	if out, err := exec.Command(b.binary, "chat", "--config", config, "--approve", "--prompt", "hi").CombinedOutput(); err != nil {
		b.tb.Fatalf("chat: %v: %s", err, out)
	}
	return nil
}

// No descriptor is left for one call, or for all from then on, at every call that makes
// one. A descriptor that the language's runtime needs for itself ends the process without
// an answer; what lies on the disk is sound then, too.
func TestNoDescriptorAtEveryCall(t *testing.T) {
	needStrace(t)
	binary := build(t, "")
	for _, part := range []struct {
		name  string
		ops   []operation
		least int
	}{{"mutations", operations(), 200}, {"readings", readings(), 60}} {
		f := fail(t, binary, "EMFILE", part.ops, creating)
		report(t, "errors  errno=EMFILE calls=creating ops=%s faults=%d reported=%d tolerated=%d without_answer=%d %v",
			part.name, f.points, f.reported, f.points-f.reported, f.silent, &f)
		if f.violations > 0 || f.points < part.least {
			t.Errorf("%s: %d faults: %s", part.name, f.points, strings.Join(f.first, "\n"))
		}
	}
}
