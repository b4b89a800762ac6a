package adapter_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"simplex/hub/adapter"
)

func TestEventsComeInOrderWithTheirIDs(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	for n := 1; n <= 50; n++ {
		write(t, ws, event("s1", n))
	}
	for n := uint64(1); n <= 50; n++ {
		if e := wait(t, "event", s.events); e.Sequence != n || e.SessionID != "s1" || e.WorkerID != "w1" {
			t.Fatalf("event %+v, want sequence %d", e, n)
		}
	}
	if c := s.Counters(); c != (adapter.Counters{}) {
		t.Errorf("counters %+v", c)
	}
}

func TestNewerConnectionWins(t *testing.T) { // BR-038
	t.Parallel()
	s := newStand(t)
	old := s.worker()
	young := s.worker()
	closedWith(t, old, 4001)
	wait(t, "disconnected", s.disconnected)

	// What the clean-up of the old one does must not touch the new one.
	if err := s.Send([]byte(`{"n":1}`)); err != nil {
		t.Fatalf("send to the newer connection: %v", err)
	}
	if got := read(t, young); got != `{"n":1}` {
		t.Errorf("the newer connection got %s", got)
	}
	write(t, young, event("s1", 1))
	if e := wait(t, "event", s.events); e.Sequence != 1 {
		t.Errorf("event %+v", e)
	}
	select {
	case <-s.disconnected:
		t.Error("the newer connection ended")
	default:
	}
}

func TestFramesThatAreDropped(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	bad := []string{
		event("s2", 1), event("", 1), `{`, `[]`, `{"type":"payload","data":{}}`, `{"type":"event"}`,
		strings.Replace(event("s1", 1), `"data":{}`, `"data":`, 1),
	}
	for _, frame := range bad {
		write(t, ws, frame)
	}
	write(t, ws, event("s1", 7))
	if e := wait(t, "event", s.events); e.Sequence != 7 {
		t.Errorf("a bad frame was handed on: %+v", e)
	}
	if got := s.Counters().ProtocolErrors; got != len(bad) {
		t.Errorf("%d protocol errors, want %d", got, len(bad))
	}
}

func TestTwentyProblemsEndAConnection(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	for range 19 {
		write(t, ws, event("s2", 1))
	}
	write(t, ws, event("s1", 1))
	wait(t, "event after 19 problems", s.events)
	write(t, ws, "nonsense")
	closedWith(t, ws, websocket.ClosePolicyViolation)
	wait(t, "disconnected", s.disconnected)
	if err := s.Send([]byte("{}")); err != adapter.ErrNoWorker {
		t.Errorf("send: %v, want ErrNoWorker", err)
	}

	again := s.worker() // each connection has its own count
	write(t, again, event("s2", 1))
	write(t, again, event("s1", 1))
	wait(t, "event on the next connection", s.events)
	if got := s.Counters().ProtocolErrors; got != 21 {
		t.Errorf("%d protocol errors in all, want 21", got)
	}
}

func TestBinaryFrameEndsAConnection(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	if err := ws.WriteMessage(websocket.BinaryMessage, []byte(event("s1", 1))); err != nil {
		t.Fatal(err)
	}
	closedWith(t, ws, websocket.CloseUnsupportedData)
	if len(s.events) > 0 {
		t.Error("a binary frame was handed on")
	}
}

func TestSequenceIsKeptAccountOf(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	for _, n := range []int{3, 4, 4, 2, 8} { // a first connection may begin anywhere
		write(t, ws, event("s1", n))
		wait(t, "event", s.events)
	}
	if c := s.Counters(); c.Duplicates != 2 || c.Gaps != 3 || c.ProtocolErrors != 0 {
		t.Errorf("counters %+v, want 2 duplicates and 3 missing", c)
	}
}

func TestSendsDoNotInterleave(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	if err := s.Send([]byte("{}")); err != adapter.ErrNoWorker {
		t.Errorf("send without a worker: %v", err)
	}
	ws := s.worker()
	const senders, each = 8, 50
	frame := []byte(`{"text":"` + strings.Repeat("x", 10000) + `"}`)
	for range senders {
		go func() {
			for range each {
				if err := s.Send(frame); err != nil {
					t.Errorf("send: %v", err)
					return
				}
			}
		}()
	}
	for range senders * each {
		if got := read(t, ws); got != string(frame) {
			t.Fatalf("frame of %d bytes arrived broken", len(got))
		}
	}
}

func TestBrowsersAreNoWorkers(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for _, path := range []string{"/events", "/confirm"} {
		_, r, err := websocket.DefaultDialer.Dial(s.url+path, http.Header{"Origin": {"http://evil.example"}})
		if err == nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("%s with an Origin: %v", path, err)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ws := s.worker()
	question := s.dial("/confirm")
	write(t, question, request("s1", "c1"))
	open := wait(t, "question", s.asked)

	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	wait(t, "close", closed)
	closedWith(t, ws, websocket.CloseGoingAway)
	if _, raw, err := question.ReadMessage(); err == nil {
		t.Errorf("an answer after Close: %s", raw)
	}
	if open.ctx.Err() == nil {
		t.Error("the question is still open")
	}
	_, r, err := websocket.DefaultDialer.Dial(s.url+"/events", nil)
	if err == nil || r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a connection after Close: %v", err)
	}
	s.Close() // twice is fine
}

func TestCloseEndsWhatNeverSpoke(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	silent := s.dial("/confirm")
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	wait(t, "close", closed)
	if _, _, err := silent.ReadMessage(); err == nil {
		t.Error("the silent connection was answered")
	}
}

func TestNewStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := adapter.New(adapter.Config{SessionID: "s1", Handler: nil})
		a.Close()
	})
}

// request is a confirmation_request.
func request(session, id string) string {
	return `{"type":"confirmation_request","data":{"worker_id":"w1","session_id":` + strconv.Quote(session) +
		`,"run_id":"r1","confirmation_id":` + strconv.Quote(id) +
		`,"call":{"type":"serial_write","security":"require_confirm","id":"t1","name":"run_command","arguments":{"command":"ls"}}}}`
}

var _ adapter.Handler = (*listener)(nil)
