package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"simplex/hub/fakehub"
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
	if strings.Count(string(out), "\n") != 1 || !strings.HasSuffix(string(out), "\n") {
		m.t.Errorf("%s: the response is not one line: %.2000q", op, out)
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
	release := r.model.hold(2)
	r.payload(message("q1", "go", object{"confirmation": object{"mode": "approve"}}))
	r.model.request(t, 2)
	m.besideARun(format, life, revision)
	release()
	if status := r.finished(); status != "completed" {
		t.Fatalf("the run ended %s", status)
	}
	if got := readFile(t, filepath.Join(r.dir, "effects")); got != "effect\n" {
		t.Errorf("the tool had its effect as %q", got)
	}
	m.wants(m.ask(protocol.ReadState, "a", nil), fmt.Sprintf(`"backend":%q`, format), `"session_id":"s1"`, `"Done."`, `"readable":null`)
	m.wants(m.ask(protocol.CleanFork, "child", m.fork(life, revision)), `"created":true`)
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

// besideARun is what must work, and what must not, while a run waits for the model with a
// tool's result saved.
func (m managed) besideARun(format, life string, revision uint64) {
	m.t.Helper()
	read := m.ask(protocol.ReadState, "a", nil)
	m.wants(read, fmt.Sprintf(`"backend":%q`, format), `"session_id":"s1"`, `"status":"running"`, `"echo effect`)
	if told := strings.Contains(read, `"operation_id":"`); told != (format == "sqlite") {
		m.t.Errorf("an operation id: %v: %.2000s", told, read)
	}
	m.wants(m.ask(protocol.CleanFork, "beside", m.fork(life, revision)), `"created":true`, `"lifecycle_id":"life-1"`)
	m.wants(m.ask(protocol.ReadState, "beside", nil), fmt.Sprintf(`"backend":%q,"state":null,"readable":null`, format))
	m.wants(m.ask(protocol.Remove, "a", nil), `"code":"busy"`, `"published":false`)
	m.wants(m.ask(protocol.Remove, "beside", nil), `"removed":true`)
}

// fork fills a clean_fork of the allocation a.
func (m managed) fork(life string, revision uint64) func(*protocol.Request) {
	return func(q *protocol.Request) {
		q.Source = &protocol.Source{AllocationID: "a", Directory: filepath.Join(m.dir, "a"), LifecycleID: life, Revision: revision}
	}
}

// staff is what a script has running: a Hub and workers by allocation.
type staff struct {
	hub     *fakehub.Hub
	workers map[string]*exec.Cmd
}

type staffKey struct{}

func staffOf(ts *testscript.TestScript) *staff { return ts.Value(staffKey{}).(*staff) }

// hub starts a Hub and puts its address into $EVENTS.
func startHub(ts *testscript.TestScript, _ bool, _ []string) {
	hub, err := fakehub.Start()
	ts.Check(err)
	staffOf(ts).hub = hub
	ts.Setenv("EVENTS", hub.EventsURL())
	ts.Defer(func() {
		hub.Close()
		for _, fault := range hub.Faults() {
			ts.Logf("%v", fault)
		}
		if len(hub.Faults()) > 0 {
			ts.Fatalf("the worker broke the protocol")
		}
	})
}

// worker ID runs a worker on the allocation's reference until the Hub has its first event.
// "! worker" wants it to end by itself with 1, having written the file refused.
func startWorker(ts *testscript.TestScript, neg bool, args []string) {
	stderr, err := os.Create(ts.MkAbs("refused"))
	ts.Check(err)
	defer stderr.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, "simplex", "run", "--config", filepath.Join(allocation(ts, args[0]), "config", "config.yaml"), "--session", "s1")
	cmd.Dir, cmd.Stderr = ts.Getenv("WORK"), stderr
	if neg {
		defer cancel()
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			ts.Fatalf("the worker was not refused: %v: %s", err, ts.ReadFile("refused"))
		}
		return
	}
	ts.Check(cmd.Start())
	staffOf(ts).workers[args[0]] = cmd
	ts.Defer(func() {
		cancel()
		_ = cmd.Wait()
	})
	hubTells(ts, "ready")
}

// hubTells waits for an event of that name.
func hubTells(ts *testscript.TestScript, name string) fakehub.Event {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		e, err := staffOf(ts).hub.Next(ctx)
		if err != nil {
			ts.Fatalf("no event %s: %v: %s", name, err, ts.ReadFile("refused"))
		}
		if e.Name == name {
			return e
		}
	}
}

// say TEXT sends a message to the worker and waits until its run has completed.
func sayToWorker(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(staffOf(ts).hub.Payload(message("q-"+args[0], args[0], mode("approve"))))
	if e := hubTells(ts, "run_finished"); e.Field("status") != "completed" {
		ts.Fatalf("the run ended: %s", e.Data)
	}
}

// stop ID ends a worker in order.
func stopWorker(ts *testscript.TestScript, _ bool, args []string) {
	cmd := staffOf(ts).workers[args[0]]
	ts.Check(cmd.Process.Signal(terminate))
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("the worker's end: %v: %s", err, ts.ReadFile("refused"))
	}
}

// slay ID is kill -9.
func slayWorker(ts *testscript.TestScript, _ bool, args []string) {
	cmd := staffOf(ts).workers[args[0]]
	ts.Check(cmd.Process.Kill())
	_ = cmd.Wait()
}
