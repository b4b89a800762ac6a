package conformance

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/hub/fakehub"
	"simplex/test/conformance/rig"
)

// response is a confirmation_response with the question's ids and members in pairs.
func response(c *fakehub.Confirmation, pairs ...any) []byte {
	data := rig.With(object{
		"worker_id": c.WorkerID, "session_id": c.SessionID, "run_id": c.RunID, "confirmation_id": c.ConfirmationID, "decision": "approved",
	}, pairs...)
	raw, err := json.Marshal(object{"type": "confirmation_response", "data": data})
	if err != nil {
		panic(err)
	}
	return raw
}

// decision is one answer of the Hub to a confirmation and whether the call runs then.
type decision struct {
	name   string
	runs   bool
	answer func(c *fakehub.Confirmation) error
}

func decisions() []decision {
	say := func(pairs ...any) func(*fakehub.Confirmation) error {
		return func(c *fakehub.Confirmation) error { return c.Reply(websocket.TextMessage, response(c, pairs...)) }
	}
	raw := func(kind int, text string) func(*fakehub.Confirmation) error {
		return func(c *fakehub.Confirmation) error { return c.Reply(kind, []byte(text)) }
	}
	return []decision{
		{"approved", true, say()},
		{"approved with a reason", true, say("reason", "fine")},
		{"unknown members are tolerated", true, say("more", 1)},
		{"denied", false, say("decision", "denied", "reason", "because of me")},
		{"no decision", false, say("decision", nil)},
		{"unknown decision", false, say("decision", "yes")},
		{"another worker_id", false, say("worker_id", "w")},
		{"another session_id", false, say("session_id", "s")},
		{"another run_id", false, say("run_id", "r")},
		{"another confirmation_id", false, say("confirmation_id", "c")},
		{"another type", false, raw(websocket.TextMessage, `{"type":"tool_response","data":{}}`)},
		{"no JSON", false, raw(websocket.TextMessage, `approved`)},
		{"longer than 64 KiB", false, say("reason", strings.Repeat("x", 64<<10))},
		{"a binary frame", false, func(c *fakehub.Confirmation) error { return c.Reply(websocket.BinaryMessage, response(c)) }},
		{"a disconnect", false, func(c *fakehub.Confirmation) error { c.HangUp(); return nil }},
	}
}

// TestConfirmations plays all answers in one batch: one connection each, in order.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	all := decisions()
	var calls []rig.Call
	for i := range all {
		calls = append(calls, rig.Shell(fmt.Sprintf("c%d", i), fmt.Sprintf("echo ran%d >>effects", i)))
	}
	r := rig.New(t, rig.Reply{Calls: calls}, rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	seen := make(map[string]bool)
	for i, d := range all {
		t.Run("§9 "+d.name, func(t *testing.T) {
			count("9")
			c := r.Asked()
			if !strings.Contains(string(c.Call), fmt.Sprintf(`"c%d"`, i)) || !strings.Contains(string(c.Call), `"security":"require_confirm"`) || seen[c.ConfirmationID] || len(c.Raw) > 1<<20 {
				t.Errorf("asked %s", c.Raw)
			}
			seen[c.ConfirmationID] = true
			if err := d.answer(c); err != nil {
				t.Fatal(err)
			}
			<-c.Gone // the worker closes
		})
	}
	fin := r.Completes()
	ran := strings.Join(r.Effects(), " ") + " "
	for i, d := range all {
		if got := strings.Contains(ran, fmt.Sprintf("ran%d ", i)); got != d.runs {
			t.Errorf("%s: the call ran: %v", d.name, got)
		}
	}
	p.Stop()
	if !strings.Contains(r.Saved(), "because of me") {
		t.Error("the reason of a denial did not reach the model")
	}
	_ = fin
}

func TestConfirmationModes(t *testing.T) {
	t.Parallel()
	call := rig.Reply{Calls: []rig.Call{rig.Shell("c1", "echo ran >>effects")}}
	ran := func(t *testing.T, r *rig.Rig, want int) {
		t.Helper()
		if got := len(r.Effects()); got != want || r.Hub.Pending() > 0 {
			t.Errorf("%d effects, want %d; %d questions", got, want, r.Hub.Pending())
		}
	}
	play(t, []row{
		{"9", "without an endpoint ask denies", func(t *testing.T) {
			r := rig.New(t, call, rig.Reply{Text: "ok"})
			r.NoConfirm = true
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Completes()
			ran(t, r, 0)
			p.Stop()
		}},
		{"9", "approve and deny ask nobody", func(t *testing.T) {
			r := rig.New(t, call, rig.Reply{Text: "ok"}, call, rig.Reply{Text: "ok"})
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			r.Completes()
			r.Payload(rig.With(rig.Message("q2", "x"), "options", rig.Mode("deny")))
			r.Completes()
			ran(t, r, 1)
			p.Stop()
		}},
		{"9", "no answer in time denies", func(t *testing.T) {
			r := rig.New(t, call, rig.Reply{Text: "ok"})
			r.ConfirmMS = 100
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			c := r.Asked()
			<-c.Gone
			r.Completes()
			ran(t, r, 0)
			p.Stop()
		}},
		{"9", "an approval that won stays, one that lost is denied", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Calls: []rig.Call{
				rig.Shell("c1", "echo ran >>effects; echo >up; while [ ! -e go ]; do sleep 0.01; done"), rig.Shell("c2", "echo ran >>effects"),
			}})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			c := r.Asked()
			run := c.RunID
			if err := c.Approve(); err != nil {
				t.Fatal(err)
			}
			<-c.Gone
			awaitFile(t, r.Dir, "up")
			r.Signal(rig.Op("cancel", "run_id", run))
			r.Until("status")
			r.Write("go", "")
			if fin := r.Finished(); fin.Field("status") != "cancelled" {
				t.Errorf("%s", fin.Data)
			}
			ran(t, r, 1) // the second was not even asked about
			p.Stop()
		}},
	})
}
