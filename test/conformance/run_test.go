package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	tool := rig.Reply{Text: "Working.", Calls: []rig.Call{rig.Shell("c1", "echo one >>effects; echo out")}}
	done := rig.Reply{Text: "Done.", Tokens: 9}
	play(t, []row{
		{"5", "order of a plain run", func(t *testing.T) {
			r := rig.New(t, done)
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			events := r.Until("run_finished")
			inOrder(t, events, concat(begin, end)...)
			for _, e := range events {
				if e.RequestID != "q1" || e.RunID != events[0].RunID {
					t.Errorf("ids of %s", e.Raw)
				}
			}
			if events[0].Field("operation") != "message" || string(events[1].Data) != "{}" || string(events[2].Data) != "{}" {
				t.Errorf("%s %s %s", events[0].Data, events[1].Data, events[2].Data)
			}
			if e := events[4]; e.Field("format") != "json" {
				t.Errorf("%s", e.Data)
			}
			fin := events[5]
			if fin.Field("status") != "completed" || fin.Field("error") != "" || r.Number(fin, "exchanges") != 1 ||
				string(fin.Value("durable")) != "true" || fin.Value("failure") != nil || r.Number(fin, "task_exchanges") != 1 {
				t.Errorf("%s", fin.Data)
			}
			p.Stop()
		}},
		{"5", "order of a run with tools", func(t *testing.T) {
			r := rig.New(t, tool, tool2("c2"), done)
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			events := r.Until("run_finished")
			events = inOrder(t, events, concat(begin, []string{"model_response"}, follow, []string{"model_response"}, follow, end)...)
			calls, results := events[4], events[7]
			if !strings.Contains(string(calls.Data), `"security":"default_deny"`) || !strings.Contains(string(calls.Data), `"type":"read_only"`) {
				t.Errorf("tool_calls shows no calls as proposed: %s", calls.Data)
			}
			if !strings.Contains(string(results.Data), `"security":"require_confirm"`) || !strings.Contains(string(results.Data), "out") {
				t.Errorf("tool_results: %s", results.Data)
			}
			p.Stop()
		}},
		{"5", "continue: no input, a new run", func(t *testing.T) {
			r := rig.New(t, done, done)
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Completes()
			r.Payload(rig.Op("continue", "request_id", "q2"))
			events := r.Until("run_finished")
			inOrder(t, events, concat([]string{"input_admitted", "run_started"}, end)...)
			if events[0].Field("operation") != "continue" {
				t.Errorf("%s", events[0].Data)
			}
			p.Stop()
			if st := r.State(); len(st.Turns) != 1 || len(st.Turns[0].Steps) != 2 {
				t.Error("continue did not add a step to the turn")
			}
		}},
		{"5", "a failed model", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Status: 400, Body: `{"error":{"message":"no such luck"}}`}, done)
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			events := r.Until("run_finished")
			inOrder(t, events, concat(begin, end[1:])...)
			fin := events[len(events)-1]
			if fin.Field("status") != "failed" || fin.Field("failure", "stage") != "model_request" || fin.Field("failure", "operation") != "task" ||
				string(fin.Value("failure", "can_continue")) != "true" || !strings.Contains(fin.Field("error"), "no such luck") {
				t.Errorf("%s", fin.Data)
			}
			r.Payload(rig.Op("continue", "request_id", "q2"))
			r.Completes()
			p.Stop()
		}},
		{"5", "exchange_limit", func(t *testing.T) {
			r := rig.New(t, tool, tool2("c2"))
			r.Worker = "max_exchanges: 2"
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			if fin := r.Finished(); fin.Field("status") != "exchange_limit" || r.Number(fin, "exchanges") != 2 || fin.Value("failure") != nil {
				t.Errorf("%s", fin.Data)
			}
			p.Stop()
		}},
		{"5", "a final answer wins over the limit", func(t *testing.T) {
			r := rig.New(t, done)
			r.Worker = "max_exchanges: 1"
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Completes()
			p.Stop()
		}},
		{"w3.5", "switched-off boundaries are not told, required ones are", func(t *testing.T) {
			r := rig.New(t, tool, done, rig.Reply{Hang: true})
			r.Persistence = "save: { on_step_finished: false, on_run_finished: false, on_shutdown: false }"
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			events := r.Until("run_finished")
			inOrder(t, events, concat(begin, []string{"model_response"}, follow[:4], []string{"model_response", "run_finished"})...)
			if fin := events[len(events)-1]; string(fin.Value("durable")) != "false" {
				t.Errorf("durable without a save: %s", fin.Data)
			}
			r.Payload(rig.Message("q2", "x"))
			r.Model.Request(t, 3)
			r.Signal(rig.Op("cancel", "run_id", r.Until("input_committed")[0].RunID))
			events = r.Until("run_finished")
			if fin := events[len(events)-1]; fin.Field("status") != "cancelled" || string(fin.Value("durable")) != "true" ||
				!strings.Contains(strings.Join(rig.Labels(events), " "), "persisted(cancelled)") {
				t.Errorf("%v %s", rig.Labels(events), fin.Data)
			}
			p.Stop()
		}},
		{"5", "export_error comes after the save and ends nothing", func(t *testing.T) {
			r := rig.New(t, done)
			r.Persistence = "readable: true"
			if err := os.MkdirAll(filepath.Join(r.Dir, "session", "state", "readable.md", "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			events := r.Until("run_finished")
			inOrder(t, events, concat(begin, []string{"model_response", "persisted(run_finished)", "export_error", "run_finished"})...)
			if e := events[5]; e.Field("message") == "" {
				t.Errorf("%s", e.Data)
			}
			if fin := events[6]; fin.Field("status") != "completed" || string(fin.Value("durable")) != "true" {
				t.Errorf("%s", fin.Data)
			}
			p.Stop()
		}},
		{"w7", "readable.md follows the state", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "an answer to be read"})
			r.Persistence = "readable: true"
			p := r.Online()
			r.Payload(rig.Message("q1", "a question to be read"))
			r.Completes()
			p.Stop()
			raw, err := os.ReadFile(filepath.Join(r.Dir, "session", "state", "readable.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"# Agent session", "## Loop progress", "### Turn 1", "a question to be read", "an answer to be read", "## Session extras"} {
				if !strings.Contains(string(raw), want) {
					t.Errorf("readable.md without %q", want)
				}
			}
		}},
		{"5", "model_delta comes only when asked for", deltas},
	})
}

func tool2(id string) rig.Reply {
	return rig.Reply{Calls: []rig.Call{rig.Shell(id, "echo "+id+" >>effects")}}
}

func deltas(t *testing.T) {
	pieces := []string{"one ", "two ", "three"}
	rest := make(chan struct{})
	r := rig.New(t, rig.Reply{Pieces: pieces}, rig.Reply{Reasoning: "hm", Pieces: pieces, Rest: rest}, rig.Reply{Pieces: pieces})
	p := r.Online()
	none := func(id string) {
		r.Payload(rig.Message(id, "x"))
		for _, e := range r.Until("run_finished") {
			if e.Name == "model_delta" {
				t.Errorf("unasked: %s", e.Raw)
			}
		}
	}
	none("q1")
	r.Signal(rig.Op("stream", "enabled", true))
	r.Status() // signals are taken in turn
	r.Payload(rig.Message("q2", "x"))
	first := r.Until("model_delta")
	text, kinds := "", []string{}
	add := func(kind, piece string) {
		if kind == "text" {
			text += piece
		}
		kinds = append(kinds, kind)
	}
	add(first[len(first)-1].Field("kind"), first[len(first)-1].Field("text"))
	close(rest)
	for _, e := range r.Until("run_finished") {
		switch e.Name {
		case "model_delta":
			add(e.Field("kind"), e.Field("text"))
			if e.RequestID != "q2" {
				t.Errorf("%s", e.Raw)
			}
		case "model_response":
			if !strings.HasPrefix("one two three", text) || !strings.Contains(string(e.Data), "one two three") {
				t.Errorf("deltas %q (%v) before %s", text, kinds, e.Data)
			}
		}
	}
	if kinds[0] != "reasoning" {
		t.Errorf("kinds %v", kinds)
	}
	r.Signal(rig.Op("stream", "enabled", false))
	r.Status()
	none("q3")
	continuous(t, r.Hub.Events())
	p.Stop()
}
