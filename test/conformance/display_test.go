package conformance

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"simplex/hub/fakehub"
	"simplex/test/conformance/rig"
)

func TestDisplayLimits(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"7", "a batch of 70 calls shows 64 and a marker", wideBatch},
		{"7", "arguments and output are cut, identities survive, the state keeps all", deepBatch},
		{"7", "an error result keeps its stage and message", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Calls: []rig.Call{{ID: "c1", Name: "no_such_tool", Arguments: `{"a":1}`}, {ID: "c2", Name: "run_command", Arguments: `{"a`}}}, rig.Reply{Text: "ok"})
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			results := find(t, r.Until("run_finished"), "tool_results")
			for _, want := range []string{`"stage":"dispatch"`, `"message":"`, `"id":"c1"`, `"id":"c2"`, `"name":"no_such_tool"`} {
				if !strings.Contains(string(results.Data), want) {
					t.Errorf("without %s: %s", want, results.Data)
				}
			}
			p.Stop()
		}},
		{"7", "an error text is bounded", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Status: 400, Body: `{"error":{"message":"` + strings.Repeat("x", 3<<20) + `"}}`})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			if e := r.Finished(); e.Field("status") != "failed" || len(e.Raw) > 64<<10 {
				t.Errorf("%d bytes", len(e.Raw))
			}
			p.Stop()
		}},
	})
}

func find(t *testing.T, events []fakehub.Event, name string) fakehub.Event {
	t.Helper()
	for _, e := range events {
		if e.Name == name {
			if len(e.Raw) > 1<<20 {
				t.Errorf("%s of %d bytes", name, len(e.Raw))
			}
			return e
		}
	}
	t.Fatalf("no %s", name)
	return fakehub.Event{}
}

func wideBatch(t *testing.T) {
	var calls []rig.Call
	for i := range 70 {
		calls = append(calls, rig.Call{ID: fmt.Sprintf("c%d", i), Name: "no_such_tool", Arguments: `{"a":"` + strings.Repeat("x", 9000) + `"}`})
	}
	r := rig.New(t, rig.Reply{Calls: calls}, rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	events := r.Until("run_finished")
	for _, name := range []string{"tool_calls", "tool_results"} {
		var entries []jsontext.Value
		r.Into(find(t, events, name), &entries)
		if len(entries) != 65 {
			t.Fatalf("%s: %d entries", name, len(entries))
		}
		var marker struct {
			Omitted bool `json:"display_omitted"`
			Items   int  `json:"omitted_items"`
		}
		if err := json.Unmarshal(entries[64], &marker); err != nil || !marker.Omitted || marker.Items != 6 {
			t.Errorf("%s: marker %s", name, entries[64])
		}
		if len(entries[0]) > 4<<10 || !strings.Contains(string(entries[0]), `"display_truncated":true`) {
			t.Errorf("%s: an entry of %d bytes", name, len(entries[0]))
		}
	}
	p.Stop()
	if step := r.State().Turns[0].Steps[0]; len(step.Returns) != 70 || len(step.ModelResponse.Calls) != 70 {
		t.Error("the state lost calls")
	}
}

func deepBatch(t *testing.T) {
	long := strings.Repeat("y", 20000)
	r := rig.New(t, rig.Reply{Calls: []rig.Call{rig.Shell("c1", "printf %s "+long)}}, rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	events := r.Until("run_finished")
	calls, results := find(t, events, "tool_calls"), find(t, events, "tool_results")
	if len(calls.Data) > 12<<10 || !strings.Contains(string(calls.Data), `"display_truncated":true`) {
		t.Errorf("tool_calls of %d bytes", len(calls.Data))
	}
	if len(results.Data) > 24<<10 || !strings.Contains(string(results.Data), `"truncated":true`) || !strings.Contains(string(results.Data), `"name":"run_command"`) {
		t.Errorf("tool_results of %d bytes", len(results.Data))
	}
	p.Stop()
	if strings.Count(r.Saved(), long) < 2 || !strings.Contains(r.Model.Last(), long) {
		t.Error("state or model got a display copy")
	}
}
