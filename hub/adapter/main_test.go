package adapter_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"simplex/hub/adapter"
	"simplex/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits that end by an event.
const patience = 20 * time.Second

// listener is a Handler that tells the test what it was told.
type listener struct {
	t            *testing.T
	connected    chan struct{}
	disconnected chan struct{}
	events       chan *wire.Received
	asked        chan asked
}

type asked struct {
	ctx    context.Context
	req    *wire.ConfirmRequest
	answer chan<- adapter.Decision
}

func (l *listener) Connected()             { l.connected <- struct{}{} }
func (l *listener) Disconnected()          { l.disconnected <- struct{}{} }
func (l *listener) Event(e *wire.Received) { l.events <- e }

func (l *listener) Confirm(ctx context.Context, req *wire.ConfirmRequest) adapter.Decision {
	answer := make(chan adapter.Decision, 1)
	l.asked <- asked{ctx, req, answer}
	select {
	case d := <-answer:
		return d
	case <-ctx.Done():
		return adapter.Decision{Approved: true, Reason: "too late"}
	}
}

// stand is an adapter of session s1 behind a real server.
type stand struct {
	*adapter.Adapter
	*listener
	url string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	l := &listener{
		t: t, connected: make(chan struct{}, 100), disconnected: make(chan struct{}, 100),
		events: make(chan *wire.Received, 100), asked: make(chan asked, 100),
	}
	a := adapter.New(adapter.Config{SessionID: "s1", Handler: l})
	mux := http.NewServeMux()
	mux.HandleFunc("/events", a.ServeEvents)
	mux.HandleFunc("/confirm", a.ServeConfirmation)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(a.Close)
	return &stand{a, l, "ws" + strings.TrimPrefix(server.URL, "http")}
}

// dial opens a socket as a worker would.
func (s *stand) dial(path string) *websocket.Conn {
	s.t.Helper()
	ws, r, err := websocket.DefaultDialer.Dial(s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = r.Body.Close()
	s.t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(patience))
	return ws
}

// worker opens an event connection and reads the status signal that greets it.
func (s *stand) worker() *websocket.Conn {
	s.t.Helper()
	ws := s.dial("/events")
	if got := read(s.t, ws); got != `{"type":"signal","data":{"operation":"status"}}` {
		s.t.Fatalf("first frame %s", got)
	}
	wait(s.t, "connected", s.connected)
	return ws
}

func wait[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
		panic("unreachable")
	}
}

func read(t *testing.T, ws *websocket.Conn) string {
	t.Helper()
	kind, raw, err := ws.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		t.Fatalf("frame of type %d: %v", kind, err)
	}
	return string(raw)
}

func write(t *testing.T, ws *websocket.Conn, text string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// closedWith reads to the end of a connection and compares the close code.
func closedWith(t *testing.T, ws *websocket.Conn, code int) {
	t.Helper()
	for {
		_, _, err := ws.ReadMessage()
		if err == nil {
			continue
		}
		if !websocket.IsCloseError(err, code) {
			t.Fatalf("connection ended with %v, want close code %d", err, code)
		}
		return
	}
}

func event(session string, sequence int) string {
	return fmt.Sprintf(`{"type":"event","event":"status","session_id":%q,"worker_id":"w1","request_id":"","run_id":"","sequence":%d,"data":{}}`, session, sequence)
}
