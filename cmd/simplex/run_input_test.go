package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"slices"
	"strings"
	"testing"

	"simplex/llm/offline"
)

func TestStatusAndOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.online()
	r.signal(object{"operation": "status"})
	status := r.expect("status")
	var members map[string]jsontext.Value
	if err := json.Unmarshal(status.Data, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"active", "stopping", "storage_failed", "rejected_payloads", "rejected_queries",
		"unreported_rejections", "event_queue", "memory_retention", "capabilities", "loop",
	} {
		if members[name] == nil {
			t.Errorf("status without %s: %s", name, slices.Sorted(maps.Keys(members)))
		}
	}
	if got := status.Field("loop", "phase"); got != "ready" || string(members["active"]) != "false" {
		t.Errorf("an idle worker's status: %s", status.Data)
	}
	if got := string(status.Value("memory_retention", "max_archives")); got != "5" {
		t.Errorf("max_archives %s", got)
	}

	r.signal(object{"operation": "options"})
	options := r.expect("options")
	for _, category := range []string{"model", "tools", "confirmation"} {
		if options.Value(category, "available") == nil || options.Value(category, "current") == nil {
			t.Errorf("options without %s: %s", category, options.Data)
		}
	}
	if got := options.Field("confirmation", "current", "mode"); got != "ask" {
		t.Errorf("confirmation mode at the start: %q", got)
	}
	p.signal(terminate)
	p.exits(0)
}

func TestWhatCannotBeAnsweredIsRefusedVisibly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.online()
	for _, c := range []struct {
		payload object
		event   string
	}{
		{object{"operation": "history", "request_id": "h1", "limit": 11}, "history_error"},
		{object{"operation": "history", "request_id": "h2", "text": "x"}, "history_error"},
		{object{"operation": "answer", "request_id": "a1", "source": object{}, "part": 0, "offset": 0}, "answer_error"},
		{object{"operation": "compact", "request_id": "k1"}, "input_rejected"},
		{object{"operation": "continue", "request_id": "n1"}, "input_rejected"},
	} {
		r.payload(c.payload)
		e := r.expect(c.event)
		if e.Field("request_id") != c.payload["request_id"] || e.Field("message") == "" || e.RunID != "" {
			t.Errorf("%v: %s", c.payload, e.Raw)
		}
		if e.Name == "input_rejected" && e.RequestID != c.payload["request_id"] {
			t.Errorf("envelope of %s", e.Raw)
		}
	}
	if r.saved() != "" {
		t.Error("refusals changed the disk")
	}
	r.signal(object{"operation": "shutdown"})
	p.exits(0)
}

func TestBadInputsAreRejectedOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "ok"}, offline.Reply{Text: "ok"})
	p := r.online()
	good := message("good", "hi", nil)
	without := func(name string) object {
		m := maps.Clone(good)
		delete(m, name)
		return m
	}
	with := func(name string, v any) object {
		m := maps.Clone(good)
		m[name] = v
		return m
	}
	for name, payload := range map[string]any{
		"no operation":      without("operation"),
		"unknown operation": with("operation", "dance"),
		"no request id":     without("request_id"),
		"number as id":      with("request_id", 7),
		"empty id":          with("request_id", ""),
		"long id":           with("request_id", strings.Repeat("x", 129)),
		"no content":        without("content"),
		"empty content":     with("content", []any{}),
		"text":              with("text", "hi"),
		"role":              with("role", nil),
		"type":              with("type", nil),
		"no modality":       with("content", []object{{"type": "text", "raw": "x"}}),
		"unknown modality":  with("content", []object{{"type": "text", "modality": "smell", "raw": "x"}}),
		"empty raw":         with("content", []object{{"type": "text", "modality": "text", "raw": ""}}),
		"extras no object":  with("content", []object{{"type": "text", "modality": "text", "raw": "x", "extras": 1}}),
	} {
		r.payload(payload)
		e := r.next()
		if e.Name != "input_rejected" || e.Field("message") == "" || e.RunID != "" {
			t.Errorf("%s: %s", name, e.Raw)
		}
	}
	r.payload(object{"operation": "message", "request_id": 7})
	if e := r.expect("input_rejected"); string(e.Value("request_id")) != "7" || e.RequestID != "" {
		t.Errorf("an id that is no text is given back as it was: %s", e.Raw)
	}
	if r.saved() != "" {
		t.Error("refused inputs changed the disk")
	}

	r.payload(good)
	if status := r.finished(); status != "completed" {
		t.Fatalf("the good one: %s", status)
	}
	saved := r.saved()
	r.payload(good)
	if e := r.expect("input_rejected"); e.RequestID != "good" {
		t.Errorf("duplicate: %s", e.Raw)
	}
	if r.saved() != saved {
		t.Error("the duplicate changed the disk")
	}
	p.signal(terminate)
	p.exits(0)
}

func TestOptionsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "ok"})
	p := r.online()
	for _, bad := range []object{
		{"confirmation": object{"mode": "maybe"}},
		{"confirmation": object{"mode": nil}},
		{"confirmation": object{"mode": "approve"}, "tools": object{"x": 1}},
		{"confirmation": object{"mode": "approve"}, "model": object{"no_such_option": "x"}},
		{"weather": object{}},
	} {
		r.payload(message("q1", "hi", bad))
		if e := r.expect("input_rejected"); e.Field("code") != "invalid_options" || e.RequestID != "q1" {
			t.Errorf("%v: %s", bad, e.Raw)
		}
	}
	r.signal(object{"operation": "options"})
	if e := r.expect("options"); e.Field("confirmation", "current", "mode") != "ask" {
		t.Errorf("refused options took effect: %s", e.Data)
	}
	r.payload(message("q1", "hi", mode("deny"))) // the id was not consumed
	if status := r.finished(); status != "completed" {
		t.Fatal(status)
	}
	r.signal(object{"operation": "options"})
	if e := r.expect("options"); e.Field("confirmation", "current", "mode") != "deny" {
		t.Errorf("a mode lasts until the process ends: %s", e.Data)
	}
	if strings.Contains(r.saved(), `"deny"`) {
		t.Error("the mode is in the state")
	}
	p.signal(terminate)
	p.exits(0)
}

func TestBadSignalsAreErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.online()
	for _, bad := range []any{
		object{"operation": "explode"},
		object{},
		object{"operation": 3},
		object{"operation": "cancel"},
		object{"operation": "cancel", "run_id": 9},
	} {
		r.signal(bad)
		if e := r.expect("error"); e.Field("message") == "" {
			t.Errorf("%v: %s", bad, e.Raw)
		}
	}
	r.signal(object{"operation": "shutdown"})
	p.exits(0)
}

func TestCancelTakesTheRightRunOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true}, offline.Reply{Text: "again"})
	p := r.online()
	r.payload(message("q1", "think", nil))
	run := r.expect("input_admitted").RunID
	r.until("input_committed")
	r.model.request(t, 1)

	r.signal(object{"operation": "cancel", "run_id": "00000000-0000-4000-8000-000000000000"})
	if e := r.expect("status"); string(e.Value("active")) != "true" || e.Field("loop", "phase") == "" {
		t.Errorf("a stale cancel changed something: %s", e.Data)
	}
	r.signal(object{"operation": "cancel", "run_id": run})
	events := r.until("run_finished")
	end := events[len(events)-1]
	if end.Field("status") != "cancelled" || end.RunID != run || string(end.Value("durable")) != "true" {
		t.Errorf("run_finished %s", end.Raw)
	}
	// The status that answers the cancel comes before or after the end of the run.
	if !slices.ContainsFunc(r.hub.Events()[5:], func(e hubEvent) bool { return e.Name == "status" }) {
		r.until("status")
	}
	r.payload(object{"operation": "continue", "request_id": "q2"})
	if status := r.finished(); status != "completed" {
		t.Errorf("continue after a cancel: %s", status)
	}
	p.signal(terminate)
	p.exits(0)
}

func TestModelFailureIsARunThatFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Status: 400, Body: `{"error":{"message":"the model said no"}}`}, offline.Reply{Text: "ok"})
	p := r.online()
	r.payload(message("q1", "hi", nil))
	events := r.until("run_finished")
	end := events[len(events)-1]
	if end.Field("status") != "failed" || end.Field("failure", "stage") != "model_request" ||
		string(end.Value("failure", "can_continue")) != "true" || !strings.Contains(end.Field("error"), "the model said no") {
		t.Errorf("run_finished %s", end.Data)
	}
	r.payload(object{"operation": "continue", "request_id": "q2"})
	if status := r.finished(); status != "completed" {
		t.Errorf("continue after a failure: %s", status)
	}
	p.signal(terminate)
	p.exits(0)
}
