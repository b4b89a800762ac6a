package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/llm/offline"
	"simplex/manager/protocol"
)

// managed is one allocation and what asks about it.
type managed struct {
	t   *testing.T
	dir string // of the allocations
}

// ask sends a request and gives the whole response; a failure's code is in it.
func (m managed) ask(op protocol.Operation, id string, fill func(*protocol.Request)) string {
	m.t.Helper()
	req := &protocol.Request{RequestID: "r", Operation: op, AllocationID: id, Directory: filepath.Join(m.dir, id)}
	if fill != nil {
		fill(req)
	}
	argument, err := req.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := exec.Command("simplex", "manage", "--request", argument).Output()
	if failed, said := err != nil, strings.Contains(string(out), `"ok":false`); failed != said {
		m.t.Fatalf("%s: exit %v with %s", op, err, out)
	}
	return string(out)
}

// wants checks that the response has each of the texts.
func (m managed) wants(response string, texts ...string) {
	m.t.Helper()
	for _, text := range texts {
		if !strings.Contains(response, text) {
			m.t.Errorf("no %s in %.2000s", text, response)
		}
	}
}

// TestManagedLife is the whole life of an allocation with a real worker on it, in both
// storage formats: prepare, refresh, capture, a run with a tool, reading and forking
// beside it, the refusal to remove it, its end, its removal, and nothing after that.
func TestManagedLife(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "sqlite"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			managedLife(t, format)
		})
	}
}

func managedLife(t *testing.T, format string) {
	r := newRig(t, calls(shell("c1", "echo effect >> effects", 20000)), offline.Reply{Text: "Done."})
	m := managed{t, filepath.Join(r.dir, "allocations")}
	source := fmt.Sprintf(`# kept as it is
driver_model: main
providers:
  main:
    plugin: openai-chat
    model: scripted
    endpoint: { base_url: %q, auth: { scheme: none } }
client: { endpoint: "ws://127.0.0.1:1/nobody" }
persistence: { format: %s }
`, r.model.URL, format)
	m.wants(m.ask(protocol.Prepare, "a", func(q *protocol.Request) { q.Configuration = &source }), `"created":true`, `"revision":1`)
	endpoint := r.hub.EventsURL()
	m.wants(m.ask(protocol.Prepare, "a", func(q *protocol.Request) { q.Refresh = &protocol.Refresh{ClientEndpoint: &endpoint} }), `"revision":2`)
	life, revision := "life-1", uint64(2)
	m.wants(m.ask(protocol.CaptureStartup, "a", func(q *protocol.Request) { q.LifecycleID, q.ExpectedRevision = &life, &revision }), `"lifecycle_id":"life-1"`)

	reference := filepath.Join(m.dir, "a", "config", "config.yaml")
	p := launch(t, r.dir, "run", "--config", reference, "--session", "s1")
	r.expect("ready")
	m.wants(m.ask(protocol.Inspect, "a", nil), `"lease":"held"`, fmt.Sprintf(`"backend":%q`, format))
	r.payload(message("q1", "go", object{"confirmation": object{"mode": "approve"}}))
	if status := r.finished(); status != "completed" {
		t.Fatalf("the run ended %s", status)
	}
	if got := readFile(t, filepath.Join(r.dir, "effects")); got != "effect\n" {
		t.Errorf("the tool had its effect as %q", got)
	}
	m.wants(m.ask(protocol.ReadState, "a", nil), fmt.Sprintf(`"backend":%q`, format), `"session_id":"s1"`, `"Done."`, `"readable":null`)
	child := func(q *protocol.Request) {
		q.Source = &protocol.Source{AllocationID: "a", Directory: filepath.Join(m.dir, "a"), LifecycleID: life, Revision: revision}
	}
	m.wants(m.ask(protocol.CleanFork, "child", child), `"created":true`)
	m.wants(m.ask(protocol.Remove, "a", nil), `"code":"busy"`, `"published":false`)
	second := launch(t, r.dir, "run", "--config", reference, "--session", "s1")
	second.exits(1)

	p.signal(syscall.SIGTERM)
	p.exits(0)
	m.wants(m.ask(protocol.ReadState, "a", nil), `"session_id":"s1"`, `"Done."`)
	m.wants(m.ask(protocol.Remove, "a", nil), `"removed":true`)
	m.wants(m.ask(protocol.Remove, "a", nil), `"removed":false`)
	m.wants(m.ask(protocol.Prepare, "a", func(q *protocol.Request) { q.Configuration = &source }), `"code":"retired"`)
	if _, err := os.Stat(filepath.Join(m.dir, "a")); !os.IsNotExist(err) {
		t.Errorf("the root is still there: %v", err)
	}
	late := launch(t, r.dir, "run", "--config", reference, "--session", "s1")
	late.exits(1)
	unconfigured := launch(t, r.dir, "run", "--config", filepath.Join(m.dir, "child", "config", "config.yaml"), "--session", "s1")
	unconfigured.exits(1)
	if !strings.Contains(unconfigured.stderr.String(), "placeholder") {
		t.Errorf("a child without endpoints of its own says %q", unconfigured.stderr)
	}
}
