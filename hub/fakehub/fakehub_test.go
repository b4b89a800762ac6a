package fakehub_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"simplex/hub/fakehub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const event = `{"type":"event","event":"ready","session_id":"s","worker_id":"w","request_id":"","run_id":"","sequence":1,"data":{"loop":{"phase":"ready"}}}`

func start(t *testing.T) (*fakehub.Hub, context.Context) {
	t.Helper()
	h, err := fakehub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return h, ctx
}

func dial(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	ws, r, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

func write(t *testing.T, ws *websocket.Conn, text string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestEventsAreKeptOverConnections(t *testing.T) {
	h, ctx := start(t)
	write(t, dial(t, h.EventsURL()), event)
	e, err := h.Next(ctx)
	if err != nil || e.Name != "ready" || e.Sequence != 1 || e.Field("loop", "phase") != "ready" {
		t.Fatalf("%+v, %v", e, err)
	}
	h.Down()
	if err := h.Payload("x"); err == nil {
		t.Error("a hub that is down sends")
	}
	if err := h.Up(); err != nil {
		t.Fatal(err)
	}
	ws := dial(t, h.EventsURL())
	if err := h.Connected(ctx, 2); err != nil {
		t.Fatal(err)
	}
	write(t, ws, strings.Replace(event, ":1,", ":2,", 1))
	if e, err = h.Next(ctx); err != nil || e.Sequence != 2 || len(h.Events()) != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestWhatIsNoEventIsAFault(t *testing.T) {
	h, ctx := start(t)
	ws := dial(t, h.EventsURL())
	for _, bad := range []string{
		`[]`, `{}`, event[:len(event)-1] + `,"x":1}`, strings.Replace(event, `"run_id":"",`, "", 1),
		strings.Replace(event, `"type":"event"`, `"type":"payload"`, 1), strings.Replace(event, ":1,", ":-1,", 1),
	} {
		write(t, ws, bad)
	}
	write(t, ws, event)
	if _, err := h.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if got := h.Faults(); len(got) != 6 {
		t.Errorf("%d faults: %v", len(got), got)
	}
}

func TestConfirmationWaitsForTheTest(t *testing.T) {
	h, ctx := start(t)
	ws := dial(t, h.ConfirmURL())
	write(t, ws, `{"type":"confirmation_request","data":{"worker_id":"w","session_id":"s","run_id":"r","confirmation_id":"c","call":{"name":"n"}}}`)
	c, err := h.Asked(ctx)
	if err != nil || c.RunID != "r" || string(c.Call) != `{"name":"n"}` {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Deny("no"); err != nil {
		t.Fatal(err)
	}
	if _, raw, err := ws.ReadMessage(); err != nil || !strings.Contains(string(raw), `"denied"`) {
		t.Errorf("%s, %v", raw, err)
	}
	_ = ws.Close()
	select {
	case <-c.Gone:
	case <-ctx.Done():
		t.Error("the end of the worker's side is not seen")
	}
}

func TestStrangersAreRefused(t *testing.T) {
	h, _ := start(t)
	url, _, _ := strings.Cut(h.EventsURL(), "?")
	_, r, err := websocket.DefaultDialer.Dial(url, nil)
	if err == nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v", err)
	}
}
