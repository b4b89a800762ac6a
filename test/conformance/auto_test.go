package conformance

import (
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

// work is an answer with a call and a usage of that many tokens.
func work(id string, tokens uint64) rig.Reply {
	return rig.Reply{Text: strings.Repeat("thinking aloud. ", 2000), Calls: []rig.Call{rig.Shell(id, "echo "+id+" >>effects")}, Tokens: tokens}
}

// cycle is what an automatic compaction tells in the middle of a request.
var cycle = []string{"tool_calls", "persisted(compact)", "compact_finished", "tool_results"}

func exchange() []string { return concat([]string{"model_response"}, follow) }

func autoThreshold(t *testing.T) {
	r := rig.New(t, work("c1", 1000), work("c2", 1001), rig.Reply{Text: "the summary", Tokens: 3}, work("c3", 10), rig.Reply{Text: "Done.", Tokens: 5000})
	r.Worker = "auto_compact_threshold: 1001" // exceeded by prompt and generated together
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	events := r.Until("run_finished")
	want := concat(begin, exchange(), exchange(), []string{"persisted(run_finished)"}, cycle, exchange(), end)
	events = inOrder(t, events, want...)
	call, fin, result, last := events[16], events[18], events[19], events[len(events)-1]
	for _, e := range events {
		if e.RunID != events[0].RunID || e.RequestID != "q1" {
			t.Errorf("%s", e.Raw)
		}
	}
	for _, member := range []string{
		`"reason":"token_threshold"`, `"threshold":1001`, `"max_exchanges":512`, `"segment_exchanges":2`, `"last_exchange_tokens":1002`, `"cycle":1`, `"succeeded":0`, `"limit":5`,
		`"name":"auto_compact"`, `"id":"host-auto-compact-`, `"security":"trusted"`, `"type":"serial_write"`, `"origin":"worker"`, `"operation":"auto_compact"`,
	} {
		if !strings.Contains(string(call.Data), member) {
			t.Errorf("pseudo call without %s: %s", member, call.Data)
		}
	}
	if fin.Field("origin") != "automatic" || r.Number(fin, "cycle") != 1 || !strings.Contains(string(call.Data), fin.Field("call_id")) || fin.Field("summary") != "the summary" {
		t.Errorf("%s", fin.Data)
	}
	if !strings.Contains(string(result.Data), `"status":"completed"`) {
		t.Errorf("%s", result.Data)
	}
	if r.Number(last, "task_exchanges") != 4 || r.Number(last, "compact_exchanges") != 1 || r.Number(last, "exchanges") != 5 ||
		r.Number(last, "auto_compact", "succeeded") != 1 || r.Number(last, "auto_compact", "attempts") != 1 || last.Field("status") != "completed" {
		t.Errorf("%s", last.Data)
	}
	p.Stop()
	if saved := r.Saved(); strings.Contains(saved, "host-auto-compact") || len(r.Effects()) != 3 || len(r.State().Turns) != 1 {
		t.Error("the pseudo call is in the state, or tools ran twice")
	}
}

func autoLimit(t *testing.T) {
	r := rig.New(t, work("c1", 10), work("c2", 10), rig.Reply{Text: "the summary"}, rig.Reply{Text: "Done."})
	r.Worker = "auto_compact_threshold: 100000, max_exchanges: 2"
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	events := r.Until("run_finished")
	for _, e := range events {
		if e.Name == "tool_calls" && strings.Contains(string(e.Data), "auto_compact") && !strings.Contains(string(e.Data), `"reason":"exchange_limit"`) {
			t.Errorf("%s", e.Data)
		}
	}
	if last := events[len(events)-1]; last.Field("status") != "completed" || r.Number(last, "auto_compact", "succeeded") != 1 {
		t.Errorf("%s", last.Data)
	}
	p.Stop()
}

func autoFrequent(t *testing.T) {
	r := rig.New(t, work("c1", 2000), rig.Reply{Text: "the summary"}, work("c2", 2000))
	r.Worker = "auto_compact_threshold: 1000"
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	last := r.Finished()
	if last.Field("status") != "failed" || !strings.HasPrefix(last.Field("error"), "auto_compact_too_frequent") || last.Field("failure", "operation") != "auto_compact" ||
		string(last.Value("failure", "can_continue")) != "true" {
		t.Errorf("%s", last.Data)
	}
	p.Stop()
}

func autoMany(t *testing.T) {
	r := rig.New(t, work("c1", 2000), rig.Reply{Text: "the summary"}, work("c2", 10), work("c3", 2000))
	r.Worker = "auto_compact_threshold: 1000, max_auto_compactions: 1"
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	last := r.Finished()
	if last.Field("status") != "failed" || !strings.HasPrefix(last.Field("error"), "auto_compact_limit") || r.Number(last, "auto_compact", "attempts") != 1 {
		t.Errorf("%s", last.Data)
	}
	if got := r.Effects(); len(got) != 3 {
		t.Errorf("effects %v", got)
	}
	p.Stop()
}

func autoFailed(t *testing.T) {
	r := rig.New(t, work("c1", 2000), rig.Reply{Text: "  "}, rig.Reply{Text: "Done."})
	r.Worker = "auto_compact_threshold: 1000"
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	events := r.Until("run_finished")
	result, last := events[len(events)-2], events[len(events)-1]
	if result.Name != "tool_results" || !strings.Contains(string(result.Data), `"status":"failed"`) || !strings.Contains(string(result.Data), `"stage":"auto_compact"`) {
		t.Errorf("%s", result.Raw)
	}
	if last.Field("status") != "failed" || last.Field("failure", "operation") != "auto_compact" || string(last.Value("durable")) != "true" {
		t.Errorf("%s", last.Data)
	}
	r.Payload(rig.Op("continue", "request_id", "q2"))
	r.Completes()
	p.Stop()
}
