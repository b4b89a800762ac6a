package main

import (
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/hub/fakehub"
	"simplex/llm/offline"
)

// rig is what a worker needs around it: a directory, a Hub and a scripted model.
type rig struct {
	t     testing.TB
	dir   string
	hub   *fakehub.Hub
	model *model

	confirmMS int    // security.confirmation.timeout_ms
	save      string // persistence.save as YAML
	clientURL string // instead of the hub's
	payloads  int    // client.payload_capacity
}

func newRig(t testing.TB, script ...offline.Reply) *rig {
	t.Helper()
	hub, err := fakehub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	r := &rig{t: t, dir: t.TempDir(), hub: hub, model: newModel(t, script), confirmMS: 60000, save: "{}", payloads: 256}
	t.Cleanup(func() {
		for _, fault := range hub.Faults() {
			t.Error(fault)
		}
		if t.Failed() {
			for _, e := range hub.Events() {
				t.Log(e.Raw[:min(len(e.Raw), 400)])
			}
		}
	})
	return r
}

// configuration writes the worker's file and gives its path.
func (r *rig) configuration() string {
	r.t.Helper()
	url := r.clientURL
	if url == "" {
		url = r.hub.EventsURL()
	}
	return writeFile(r.t, filepath.Join(r.dir, "config.yaml"), fmt.Sprintf(`
driver_model: main
providers:
  main:
    plugin: openai-chat
    model: scripted
    endpoint: { base_url: %q, auth: { scheme: none } }
    retry: { max_attempts: 0 }
client:
  endpoint: %q
  payload_capacity: %d
  transport: { initial_backoff_ms: 20, max_backoff_ms: 50 }
security: { confirmation: { endpoint: %q, timeout_ms: %d } }
persistence: { directory: session, save: %s }
`, r.model.URL, url, r.payloads, r.hub.ConfirmURL(), r.confirmMS, r.save))
}

// start runs a worker of session s1.
func (r *rig) start() *program {
	r.t.Helper()
	return launch(r.t, r.dir, "run", "--config", r.configuration(), "--session", "s1")
}

// online is start, and waits for the worker's first event.
func (r *rig) online() *program {
	r.t.Helper()
	p := r.start()
	r.expect("ready")
	return p
}

// next gives the next event.
func (r *rig) next() fakehub.Event {
	r.t.Helper()
	e, err := r.hub.Next(deadline(r.t))
	if err != nil {
		r.t.Fatalf("no further event: %v", err)
	}
	return e
}

// expect gives the next event, which must be of that name.
func (r *rig) expect(name string) fakehub.Event {
	r.t.Helper()
	e := r.next()
	if e.Name != name {
		r.t.Fatalf("event %s, want %s", e.Raw, name)
	}
	return e
}

// until gives the events up to the first of that name, which is the last of them.
func (r *rig) until(name string) []fakehub.Event {
	r.t.Helper()
	for out := []fakehub.Event(nil); ; {
		out = append(out, r.next())
		if out[len(out)-1].Name == name {
			return out
		}
	}
}

// rest gives the events that were not given yet, once the worker hung up.
func (r *rig) rest() []fakehub.Event {
	r.t.Helper()
	if err := r.hub.Disconnected(deadline(r.t)); err != nil {
		r.t.Fatal("the worker is still connected")
	}
	return r.hub.Rest()
}

// finished waits for the end of a run and gives its status.
func (r *rig) finished() string {
	r.t.Helper()
	events := r.until("run_finished")
	return events[len(events)-1].Field("status")
}

func (r *rig) asked() *fakehub.Confirmation {
	r.t.Helper()
	c, err := r.hub.Asked(deadline(r.t))
	if err != nil {
		r.t.Fatalf("no confirmation was asked for: %v", err)
	}
	return c
}

// object is a JSON object that a test sends.
type object = map[string]any

// message is the payload of an operator's text. options may be nil.
func message(id, text string, options any) object {
	m := object{
		"operation": "message", "request_id": id,
		"content": []object{{"type": "text", "modality": "text", "raw": text}},
	}
	if options != nil {
		m["options"] = options
	}
	return m
}

// mode is the options that set a confirmation mode.
func mode(m string) object { return object{"confirmation": object{"mode": m}} }

func (r *rig) payload(data any) {
	r.t.Helper()
	if err := r.hub.Payload(data); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) signal(data any) {
	r.t.Helper()
	if err := r.hub.Signal(data); err != nil {
		r.t.Fatal(err)
	}
}

// saved is the state on disk; "" when there is none.
func (r *rig) saved() string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "session", "state", "state.json"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(raw)
}

// phase is loop.phase on disk, "" without a state.
func (r *rig) phase() string {
	r.t.Helper()
	raw := r.saved()
	if raw == "" {
		return ""
	}
	var st struct {
		Loop struct {
			Phase string `json:"phase"`
		} `json:"loop"`
	}
	if err := json.Unmarshal([]byte(raw), &st); err != nil {
		r.t.Fatalf("state.json: %v", err)
	}
	return st.Loop.Phase
}

// effects is what commands wrote to the file effects of the rig, by lines.
func (r *rig) effects() []string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, "effects"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return strings.Fields(string(raw))
}

func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// shell is a model's call of run_command.
func shell(id, line string, waitMS int) offline.Call {
	raw, _ := json.Marshal(object{"command": line, "expected_runtime_milliseconds": waitMS})
	return offline.Call{ID: id, Name: "run_command", Arguments: string(raw)}
}

// calls is an answer that asks for commands.
func calls(c ...offline.Call) offline.Reply { return offline.Reply{Text: "Working on it.", Calls: c} }
