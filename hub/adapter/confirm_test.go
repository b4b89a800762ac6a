package adapter_test

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/hub/adapter"
)

type response struct {
	Type string `json:"type"`
	Data struct {
		WorkerID       string `json:"worker_id"`
		SessionID      string `json:"session_id"`
		RunID          string `json:"run_id"`
		ConfirmationID string `json:"confirmation_id"`
		Decision       string `json:"decision"`
		Reason         string `json:"reason"`
	} `json:"data"`
}

func decode(t *testing.T, raw string) response {
	t.Helper()
	var r response
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return r
}

func TestEachAnswerGoesToItsQuestion(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	sockets := make(map[string]*websocket.Conn)
	open := make(map[string]asked)
	for _, id := range []string{"c1", "c2", "c3"} {
		sockets[id] = s.dial("/confirm")
		write(t, sockets[id], request("s1", id))
		q := wait(t, "question", s.asked)
		if q.req.ConfirmationID != id || q.req.CallName != "run_command" || q.req.RunID != "r1" {
			t.Fatalf("question %+v", q.req)
		}
		open[id] = q
	}
	for _, id := range []string{"c3", "c1", "c2"} { // not in the order of the questions
		open[id].answer <- adapter.Decision{Approved: id != "c1", Reason: "because of " + id}
		r := decode(t, read(t, sockets[id]))
		want := map[bool]string{true: "approved", false: "denied"}[id != "c1"]
		if r.Type != "confirmation_response" || r.Data.Decision != want || r.Data.Reason != "because of "+id ||
			r.Data.WorkerID != "w1" || r.Data.SessionID != "s1" || r.Data.RunID != "r1" || r.Data.ConfirmationID != id {
			t.Errorf("answer to %s: %+v", id, r)
		}
		_ = sockets[id].Close()
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string]string{
		"other session": request("s2", "c1"),
		"no JSON":       "{",
		"wrong type":    strings.Replace(request("s1", "c1"), "confirmation_request", "tool_request", 1),
		"blank id":      request("s1", ""),
		"no call":       `{"type":"confirmation_request","data":{"worker_id":"w1","session_id":"s1","run_id":"r1","confirmation_id":"c1"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			ws := s.dial("/confirm")
			write(t, ws, frame)
			closedWith(t, ws, websocket.ClosePolicyViolation)
			if len(s.asked) > 0 || s.Counters().ProtocolErrors != 1 {
				t.Errorf("%d questions, counters %+v", len(s.asked), s.Counters())
			}
		})
	}
	t.Run("binary", func(t *testing.T) {
		t.Parallel()
		s := newStand(t)
		ws := s.dial("/confirm")
		if err := ws.WriteMessage(websocket.BinaryMessage, []byte(request("s1", "c1"))); err != nil {
			t.Fatal(err)
		}
		closedWith(t, ws, websocket.ClosePolicyViolation)
	})
}

func TestSameConfirmationTwice(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	first := s.dial("/confirm")
	write(t, first, request("s1", "c1"))
	q := wait(t, "question", s.asked)
	second := s.dial("/confirm")
	write(t, second, request("s1", "c1"))
	closedWith(t, second, websocket.ClosePolicyViolation)
	q.answer <- adapter.Decision{Approved: true}
	if r := decode(t, read(t, first)); r.Data.Decision != "approved" {
		t.Errorf("the first one is disturbed: %+v", r)
	}
}

func TestWorkerThatGivesUp(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.dial("/confirm")
	write(t, ws, request("s1", "c1"))
	q := wait(t, "question", s.asked)
	_ = ws.Close()
	wait(t, "end of the question", q.ctx.Done())
}

func TestQuestionWithoutAnswerLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	stuck := s.dial("/confirm")
	write(t, stuck, request("s1", "c1"))
	wait(t, "question", s.asked)
	worker := s.worker()
	write(t, worker, event("s1", 1))
	wait(t, "event", s.events)
	other := s.dial("/confirm")
	write(t, other, request("s1", "c2"))
	wait(t, "second question", s.asked).answer <- adapter.Decision{}
	if r := decode(t, read(t, other)); r.Data.Decision != "denied" {
		t.Errorf("answer %+v", r)
	}
}
