package rig

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/hub/fakehub"
	"simplex/state"
)

// Rig is a worker's surroundings. Fields may be set before Start.
type Rig struct {
	T     testing.TB
	Dir   string
	Hub   *fakehub.Hub
	Model *Model

	Client      string   // further members of client, as a YAML flow: "a: 1, b: 2"
	Transport   string   // likewise of client.transport
	Worker      string   // likewise of worker
	Persistence string   // likewise of persistence
	Extra       string   // further lines of the file
	Endpoint    string   // client.endpoint instead of the Hub's
	NoConfirm   bool     // leave security out
	ConfirmMS   int      // security.confirmation.timeout_ms; 0: 60000
	Prefix      []string // what the command line begins with, as in `ip netns exec NAME`
	Binary      string   // instead of the package's
}

// New starts a Hub and a model. Frames that are no events fail the test.
func New(t testing.TB, script ...Reply) *Rig {
	t.Helper()
	hub, err := fakehub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	r := &Rig{T: t, Dir: t.TempDir(), Hub: hub, Model: NewModel(t, nil, script...)}
	t.Cleanup(r.report)
	return r
}

func (r *Rig) report() {
	for _, fault := range r.Hub.Faults() {
		r.T.Error(fault)
	}
	if !r.T.Failed() {
		return
	}
	events := r.Hub.Events()
	if more := len(events) - 12; more > 0 {
		r.T.Logf("(%d earlier events)", more)
		events = events[more:]
	}
	for _, e := range events {
		r.T.Log(e.Raw[:min(len(e.Raw), 260)])
	}
}

// HubAddr is host:port of the Hub.
func (r *Rig) HubAddr() string {
	u, err := url.Parse(r.Hub.EventsURL())
	if err != nil {
		r.T.Fatal(err)
	}
	return u.Host
}

// Through puts a valve between worker and Hub.
func (r *Rig) Through() *Valve {
	r.T.Helper()
	v := NewValve(r.T, nil, r.HubAddr())
	r.Endpoint = strings.Replace(r.Hub.EventsURL(), r.HubAddr(), v.Addr(), 1)
	return v
}

// Configuration writes the worker's file and gives its path.
func (r *Rig) Configuration() string {
	r.T.Helper()
	endpoint := r.Endpoint
	if endpoint == "" {
		endpoint = r.Hub.EventsURL()
	}
	security := ""
	if !r.NoConfirm {
		security = fmt.Sprintf("security: { confirmation: { endpoint: %q, timeout_ms: %d } }", r.Hub.ConfirmURL(), cmp.Or(r.ConfirmMS, 60000))
	}
	transport := r.Transport
	if transport == "" {
		transport = "initial_backoff_ms: 20, max_backoff_ms: 100"
	}
	text := fmt.Sprintf(`
driver_model: main
providers:
  main:
    plugin: openai-chat
    model: scripted
    endpoint: { base_url: %q, auth: { scheme: none } }
    retry: { max_attempts: 0 }
client: { endpoint: %q, transport: { %s }%s }
%s
worker: { environment: { workspace: . }%s }
persistence: { directory: session%s }
%s
`, r.Model.URL(), endpoint, transport, further(r.Client), security, further(r.Worker), further(r.Persistence), r.Extra)
	path := filepath.Join(r.Dir, "config.yaml")
	r.Write("config.yaml", text)
	return path
}

func further(members string) string {
	if members == "" {
		return ""
	}
	return ", " + members
}

// Start runs a worker of session s1.
func (r *Rig) Start() *Program {
	r.T.Helper()
	line := append(append([]string(nil), r.Prefix...), cmp.Or(r.Binary, Binary))
	return launch(r.T, r.Dir, append(line, "run", "--config", r.Configuration(), "--session", "s1"))
}

// Online is Start, and waits for the worker's `ready`.
func (r *Rig) Online() *Program {
	r.T.Helper()
	p := r.Start()
	r.Until("ready")
	return p
}

// Write puts a file into the rig's directory.
func (r *Rig) Write(name, text string) {
	r.T.Helper()
	if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// StatePath is where the state is saved.
func (r *Rig) StatePath() string { return filepath.Join(r.Dir, "session", "state", "state.json") }

// Saved is the state file as it is; "" when there is none.
func (r *Rig) Saved() string {
	r.T.Helper()
	raw, err := os.ReadFile(r.StatePath())
	if err != nil && !os.IsNotExist(err) {
		r.T.Fatal(err)
	}
	return string(raw)
}

// State is the decoded state on disk, which must satisfy the structure rules; nil without
// one.
func (r *Rig) State() *state.State {
	r.T.Helper()
	raw := r.Saved()
	if raw == "" {
		return nil
	}
	st, err := state.Decode([]byte(raw))
	if err != nil {
		r.T.Fatalf("state.json: %v", err)
	}
	if err := state.Check(st); err != nil {
		r.T.Fatalf("state.json: %v", err)
	}
	return st
}

// Put makes st the state that the next start finds.
func (r *Rig) Put(st *state.State) {
	r.T.Helper()
	if err := os.MkdirAll(filepath.Dir(r.StatePath()), 0o700); err != nil {
		r.T.Fatal(err)
	}
	f, err := os.OpenFile(r.StatePath(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		r.T.Fatal(err)
	}
	if err := state.Encode(f, st); err != nil {
		r.T.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.T.Fatal(err)
	}
}

// Effects is what commands wrote to the file effects of the rig, by words.
func (r *Rig) Effects() []string {
	r.T.Helper()
	raw, err := os.ReadFile(filepath.Join(r.Dir, "effects"))
	if err != nil && !os.IsNotExist(err) {
		r.T.Fatal(err)
	}
	return strings.Fields(string(raw))
}

// Shell is a model's call of run_command.
func Shell(id, line string) Call {
	raw, err := json.Marshal(Object{"command": line, "expected_runtime_milliseconds": 20000})
	if err != nil {
		panic(err)
	}
	return Call{ID: id, Name: "run_command", Arguments: string(raw)}
}
