package main

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/hub/fakehub"
	"simplex/llm/offline"
)

// errorStages gives extras.error.stage of each result, "" where the call succeeded.
func errorStages(t *testing.T, events []fakehub.Event) []string {
	t.Helper()
	for _, e := range events {
		if e.Name != "tool_results" {
			continue
		}
		var results []struct {
			Extras struct {
				Error struct {
					Stage string `json:"stage"`
				} `json:"error"`
			} `json:"extras"`
		}
		if err := json.Unmarshal(e.Data, &results); err != nil {
			t.Fatalf("%s: %v", e.Raw, err)
		}
		var out []string
		for _, r := range results {
			out = append(out, r.Extras.Error.Stage)
		}
		return out
	}
	t.Fatal("no tool_results")
	return nil
}

// reply is a confirmation_response with these four ids.
func reply(worker, session, run, confirmation, decision string) []byte {
	return fmt.Appendf(nil, `{"type":"confirmation_response","data":{"worker_id":%q,"session_id":%q,"run_id":%q,"confirmation_id":%q,"decision":%q}}`,
		worker, session, run, confirmation, decision)
}

func TestConfirmationsThatAreNoApprovalDeny(t *testing.T) {
	t.Parallel()
	text := websocket.TextMessage
	for name, act := range map[string]func(c *fakehub.Confirmation) error{
		"denied": func(c *fakehub.Confirmation) error { return c.Deny("not today") },
		"other worker": func(c *fakehub.Confirmation) error {
			return c.Reply(text, reply("w", c.SessionID, c.RunID, c.ConfirmationID, "approved"))
		},
		"other session": func(c *fakehub.Confirmation) error {
			return c.Reply(text, reply(c.WorkerID, "s", c.RunID, c.ConfirmationID, "approved"))
		},
		"other run": func(c *fakehub.Confirmation) error {
			return c.Reply(text, reply(c.WorkerID, c.SessionID, "r", c.ConfirmationID, "approved"))
		},
		"other confirmation": func(c *fakehub.Confirmation) error {
			return c.Reply(text, reply(c.WorkerID, c.SessionID, c.RunID, "c", "approved"))
		},
		"unknown decision": func(c *fakehub.Confirmation) error { return c.Answer("perhaps", "") },
		"wrong type": func(c *fakehub.Confirmation) error {
			return c.Reply(text, []byte(strings.Replace(string(reply(c.WorkerID, c.SessionID, c.RunID, c.ConfirmationID, "approved")), "confirmation_response", "tool_response", 1)))
		},
		"binary": func(c *fakehub.Confirmation) error {
			return c.Reply(websocket.BinaryMessage, reply(c.WorkerID, c.SessionID, c.RunID, c.ConfirmationID, "approved"))
		},
		"no JSON": func(c *fakehub.Confirmation) error { return c.Reply(text, []byte("approved")) },
		"too long": func(c *fakehub.Confirmation) error {
			return c.Answer("approved", strings.Repeat("x", 64<<10))
		},
		"hung up": func(c *fakehub.Confirmation) error { c.HangUp(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "I may not."})
			p := r.online()
			r.payload(message("q1", "work", nil))
			c := r.asked()
			_ = act(c) // a worker that hangs up first makes the write fail: its event tells
			events := r.until("run_finished")
			if got := errorStages(t, events); len(got) != 1 || got[0] != "security_check" {
				t.Errorf("error stages %q", got)
			}
			if got := r.effects(); len(got) > 0 {
				t.Errorf("the command ran: %v", got)
			}
			if name == "denied" && !strings.Contains(r.model.last(), "not today") {
				t.Error("the model was not told the operator's reason")
			}
			p.signal(terminate)
			p.exits(0)
		})
	}
}

func TestNoDecisionInTimeDenies(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "I may not."})
	r.confirmMS = 300
	p := r.online()
	r.payload(message("q1", "work", nil))
	c := r.asked()
	events := r.until("run_finished")
	if got := errorStages(t, events); len(got) != 1 || got[0] != "security_check" || len(r.effects()) > 0 {
		t.Errorf("error stages %q, effects %v", got, r.effects())
	}
	select {
	case <-c.Gone:
	case <-deadline(t).Done():
		t.Error("the worker left its question open")
	}
	p.signal(terminate)
	p.exits(0)
}

func TestCancelWhileAsking(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000), shell("c2", "echo two >>effects", 20000)))
	p := r.online()
	r.payload(message("q1", "work", nil))
	c := r.asked()
	r.signal(object{"operation": "cancel", "run_id": c.RunID})
	events := r.until("run_finished")
	if got := events[len(events)-1].Field("status"); got != "cancelled" {
		t.Errorf("run_finished %s", got)
	}
	if got := errorStages(t, events); len(got) != 2 || got[0] == "" || got[1] == "" {
		t.Errorf("error stages %q: want a record for each call (BR-050)", got)
	}
	if got := r.effects(); len(got) > 0 || r.hub.Pending() > 0 {
		t.Errorf("effects %v, %d further questions", got, r.hub.Pending())
	}
	if got := r.phase(); got != "ready" {
		t.Errorf("phase %q", got)
	}
	p.signal(terminate)
	p.exits(0)
}

func TestModesDecideLocally(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "no"},
		calls(shell("c2", "echo two >>effects", 20000)), offline.Reply{Text: "yes"})
	p := r.online()
	r.payload(message("q1", "work", mode("deny")))
	if got := errorStages(t, r.until("run_finished")); len(got) != 1 || got[0] != "security_check" {
		t.Errorf("mode deny: %q", got)
	}
	r.payload(message("q2", "work", mode("approve")))
	if got := errorStages(t, r.until("run_finished")); len(got) != 1 || got[0] != "" {
		t.Errorf("mode approve: %q", got)
	}
	if got := r.effects(); len(got) != 1 || got[0] != "two" || r.hub.Pending() > 0 {
		t.Errorf("effects %v, questions %d", got, r.hub.Pending())
	}
	p.signal(terminate)
	p.exits(0)
}

func TestConfirmationServiceThatIsAwayDenies(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "I may not."})
	other, err := fakehub.Start()
	if err != nil {
		t.Fatal(err)
	}
	other.Close() // its port refuses from now on
	file := r.configuration()
	writeFile(t, file, strings.Replace(readFile(t, file), r.hub.ConfirmURL(), other.ConfirmURL(), 1))
	p := launch(t, r.dir, "run", "-c", file, "-s", "s1")
	r.expect("ready")
	r.payload(message("q1", "work", nil))
	if got := errorStages(t, r.until("run_finished")); len(got) != 1 || got[0] != "security_check" || len(r.effects()) > 0 {
		t.Errorf("error stages %q, effects %v", got, r.effects())
	}
	if strings.Contains(p.stderr.String(), fakehub.Token) {
		t.Error("the token is in the log")
	}
	p.signal(terminate)
	p.exits(0)
}
