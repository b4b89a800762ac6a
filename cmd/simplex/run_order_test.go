package main

import (
	"encoding/json/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"simplex/hub/fakehub"
	"simplex/llm/offline"
)

// label is an event's name, with the boundary for `persisted`.
func label(e fakehub.Event) string {
	if b := e.Field("boundary"); e.Name == "persisted" {
		return "persisted(" + b + ")"
	}
	return e.Name
}

// inOrder compares events with the contract's order. A queued `persisted` may have been
// replaced in place by a later one (wire.md §7), which then does not come on its own.
func inOrder(t testing.TB, events []fakehub.Event, want ...string) {
	t.Helper()
	var got []string
	for _, e := range events {
		got = append(got, label(e))
	}
	rest := slices.Clone(want)
	for i, name := range got {
		at := slices.Index(rest, name)
		switch {
		case at < 0:
			t.Fatalf("event %d is %s:\n got %v\nwant %v", i, name, got, want)
		case at > 0 && strings.HasPrefix(name, "persisted(") && strings.HasPrefix(rest[0], "persisted("):
			rest = append(slices.Clone(rest[1:at]), rest[at+1:]...)
		case at > 0:
			t.Fatalf("event %d is %s, not %s:\n got %v\nwant %v", i, name, rest[0], got, want)
		default:
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		t.Fatalf("missing %v:\n got %v\nwant %v", rest, got, want)
	}
}

// continuous checks that sequences run from 1 without gap or repetition.
func continuous(t testing.TB, events []fakehub.Event) {
	t.Helper()
	for i, e := range events {
		if e.Sequence != uint64(i+1) {
			t.Fatalf("event %d has sequence %d: %s", i, e.Sequence, e.Raw)
		}
	}
}

func TestPlainRunInTheContractsOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "Four."})
	p := r.online()
	r.payload(message("q1", "2+2?", nil))
	events := r.until("run_finished")
	inOrder(t, events, "input_admitted", "run_started", "input_committed", "model_response",
		"persisted(run_finished)", "run_finished")

	all := r.hub.Events()
	continuous(t, all)
	ready, run := all[0], events[0].RunID
	if ready.RequestID != "" || ready.RunID != "" {
		t.Errorf("ready names a request: %s", ready.Raw)
	}
	if uuid.Validate(ready.WorkerID) != nil || uuid.Validate(run) != nil {
		t.Errorf("worker_id %q, run_id %q: want UUIDs", ready.WorkerID, run)
	}
	for _, e := range events {
		if e.SessionID != "s1" || e.WorkerID != ready.WorkerID || e.RequestID != "q1" || e.RunID != run {
			t.Errorf("ids of %s", e.Raw)
		}
	}
	if got := string(events[1].Data) + string(events[2].Data); got != "{}{}" {
		t.Errorf("run_started and input_committed carry %s", got)
	}
	if got := events[0].Field("operation"); got != "message" {
		t.Errorf("input_admitted names operation %q", got)
	}
	response, end := events[3], events[len(events)-1]
	if got := response.Field("answer_source", "commit_sequence"); got != "1" {
		t.Errorf("model_response commit_sequence %q, want the text 1", got)
	}
	if end.Field("status") != "completed" || end.Field("error") != "" ||
		string(end.Value("exchanges")) != "1" || string(end.Value("durable")) != "true" {
		t.Errorf("run_finished %s", end.Data)
	}
	r.signal(object{"operation": "shutdown"})
	p.exits(0)
}

func TestToolRunInTheContractsOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000), shell("c2", "echo two >>effects; exit 3", 20000)),
		offline.Reply{Text: "Done."})
	p := r.online()
	r.payload(message("q1", "work", nil))
	first, second := r.asked(), (*fakehub.Confirmation)(nil)
	if got := r.effects(); len(got) > 0 {
		t.Fatalf("a command ran unasked: %v", got)
	}
	before := r.until("persisted") // saved before anyone is asked
	if r.phase() != "tools" {
		t.Errorf("phase on disk while asking: %q", r.phase())
	}
	for _, c := range []*fakehub.Confirmation{first, second} {
		if c == nil {
			c = r.asked()
		}
		if err := c.Approve(); err != nil {
			t.Fatal(err)
		}
	}
	events := append(before, r.until("run_finished")...)
	inOrder(t, events, "input_admitted", "run_started", "input_committed",
		"model_response", "tool_calls", "persisted(before_tools)", "persisted(results_ready)", "tool_results",
		"persisted(step_finished)", "model_response", "persisted(run_finished)", "run_finished")
	continuous(t, r.hub.Events())
	if got := r.effects(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("effects %v", got)
	}
	checkBatch(t, events)
	checkQuestion(t, first, events[0])
	r.signal(object{"operation": "shutdown"})
	p.exits(0)
}

// checkBatch looks at the two calls as proposed and their results in call order.
func checkBatch(t *testing.T, events []fakehub.Event) {
	t.Helper()
	var proposed []struct{ ID, Name, Security string }
	var results []struct {
		Query struct {
			ID, Name, Security, Type string
		} `json:"query"`
		Output struct{ Raw string } `json:"output"`
	}
	for _, e := range events {
		var err error
		switch e.Name {
		case "tool_calls":
			err = json.Unmarshal(e.Data, &proposed, json.MatchCaseInsensitiveNames(true))
		case "tool_results":
			err = json.Unmarshal(e.Data, &results, json.MatchCaseInsensitiveNames(true))
		}
		if err != nil {
			t.Fatalf("%s: %v", e.Raw, err)
		}
	}
	if len(proposed) != 2 || proposed[0].ID != "c1" || proposed[1].ID != "c2" || proposed[0].Security != "default_deny" {
		t.Errorf("tool_calls %+v: want the calls as proposed", proposed)
	}
	if len(results) != 2 || results[0].Query.ID != "c1" || results[1].Query.ID != "c2" || results[0].Query.Security != "require_confirm" {
		t.Errorf("tool_results %+v: want settled calls in call order", results)
	}
}

// checkQuestion compares a confirmation's ids with the run's.
func checkQuestion(t *testing.T, c *fakehub.Confirmation, admitted fakehub.Event) {
	t.Helper()
	if c.WorkerID != admitted.WorkerID || c.SessionID != "s1" || c.RunID != admitted.RunID || uuid.Validate(c.ConfirmationID) != nil {
		t.Errorf("confirmation ids of %s", c.Raw)
	}
	var call struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Security string `json:"security"`
	}
	if err := json.Unmarshal(c.Call, &call); err != nil || call.ID != "c1" || call.Name != "run_command" || call.Security != "require_confirm" {
		t.Errorf("call %s, %v: want the settled call", c.Call, err)
	}
}
