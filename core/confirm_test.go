package core

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/intercom"
	"simplex/state"
	"simplex/wire"
)

// service is a confirmation endpoint that answers each request as reply says; "" says
// nothing, and the request is told to asked.
func service(t *testing.T, asked chan<- wire.ConfirmRequest, reply func(wire.ConfirmRequest) string) *intercom.ExchangeConfig {
	t.Helper()
	up := websocket.Upgrader{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.Close() }()
		_, raw, err := ws.ReadMessage()
		if err != nil {
			return
		}
		req, err := wire.DecodeConfirmRequest(raw)
		if err != nil {
			t.Errorf("request: %v", err)
			return
		}
		if asked != nil {
			asked <- req
		}
		if text := reply(req); text != "" {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(text))
		}
		_, _, _ = ws.ReadMessage()
	}))
	t.Cleanup(srv.Close)
	url, err := wire.ParseURL("ws" + strings.TrimPrefix(srv.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	return &intercom.ExchangeConfig{URL: url, Timeout: 20 * time.Second, MaxReply: wire.MaxConfirmReply}
}

func newConfirmer(endpoint *intercom.ExchangeConfig) *confirmer {
	return &confirmer{
		endpoint: endpoint, worker: "w", session: "s", logger: slog.New(slog.DiscardHandler),
		newID: func() string { return "conf-1" },
	}
}

func answer(req wire.ConfirmRequest, d wire.Decision) string {
	raw, _ := wire.EncodeConfirmResponse(wire.ConfirmResponse{ConfirmIDs: req.ConfirmIDs, Decision: d, Reason: "because"})
	return string(raw)
}

var someCall = state.Call{ID: "c1", Name: "run_command", Arguments: state.EmptyObject().Value}

func TestConfirmation(t *testing.T) {
	other := func(change func(*wire.ConfirmIDs)) func(wire.ConfirmRequest) string {
		return func(req wire.ConfirmRequest) string {
			change(&req.ConfirmIDs)
			return answer(req, wire.Approved)
		}
	}
	tests := []struct {
		name   string
		mode   wire.Mode
		reply  func(wire.ConfirmRequest) string // nil: no endpoint
		want   bool
		reason string
	}{
		{"approve decides alone", wire.ModeApprove, nil, true, ""},
		{"deny decides alone", wire.ModeDeny, nil, false, "set to deny"},
		{"nobody to ask", wire.ModeAsk, nil, false, "no confirmation endpoint"},
		{"approved", wire.ModeAsk, func(r wire.ConfirmRequest) string { return answer(r, wire.Approved) }, true, ""},
		{"denied", wire.ModeAsk, func(r wire.ConfirmRequest) string { return answer(r, wire.Denied) }, false, "because"},
		{"another confirmation", wire.ModeAsk, other(func(i *wire.ConfirmIDs) { i.ConfirmationID = "x" }), false, "no valid answer"},
		{"another run", wire.ModeAsk, other(func(i *wire.ConfirmIDs) { i.RunID = "x" }), false, "no valid answer"},
		{"another worker", wire.ModeAsk, other(func(i *wire.ConfirmIDs) { i.WorkerID = "x" }), false, "no valid answer"},
		{"another session", wire.ModeAsk, other(func(i *wire.ConfirmIDs) { i.SessionID = "x" }), false, "no valid answer"},
		{"no JSON", wire.ModeAsk, func(wire.ConfirmRequest) string { return "yes" }, false, "no valid answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var endpoint *intercom.ExchangeConfig
			if tt.reply != nil {
				endpoint = service(t, nil, tt.reply)
			}
			scope := newConfirmer(endpoint).open(tt.mode, "run-1")
			defer scope.close()
			got, reason := scope.confirm(context.Background(), someCall)
			if got != tt.want || !strings.Contains(reason, tt.reason) {
				t.Errorf("got %v %q, want %v with %q", got, reason, tt.want, tt.reason)
			}
		})
	}
}

func TestCancelDeniesWhatIsUndecided(t *testing.T) {
	asked := make(chan wire.ConfirmRequest, 1)
	scope := newConfirmer(service(t, asked, func(wire.ConfirmRequest) string { return "" })).open(wire.ModeAsk, "run-1")
	go func() {
		<-asked
		scope.close()
	}()
	if ok, reason := scope.confirm(context.Background(), someCall); ok || !strings.Contains(reason, "cancelled") {
		t.Errorf("got %v %q, want a denial that names the cancel", ok, reason)
	}
}

func TestNothingPassesAClosedScope(t *testing.T) {
	for _, mode := range []wire.Mode{wire.ModeAsk, wire.ModeApprove, wire.ModeDeny} {
		scope := newConfirmer(nil).open(mode, "run-1")
		scope.close()
		if ok, _ := scope.confirm(context.Background(), someCall); ok {
			t.Errorf("mode %s approves after the cancel", mode)
		}
	}
}

func TestNoAnswerInTimeIsADenial(t *testing.T) {
	endpoint := service(t, nil, func(wire.ConfirmRequest) string { return "" })
	endpoint.Timeout = 50 * time.Millisecond
	scope := newConfirmer(endpoint).open(wire.ModeAsk, "run-1")
	defer scope.close()
	if ok, reason := scope.confirm(context.Background(), someCall); ok || !strings.Contains(reason, "in time") {
		t.Errorf("got %v %q", ok, reason)
	}
}

func TestACallTooLargeToBeShownIsDenied(t *testing.T) {
	asked := make(chan wire.ConfirmRequest, 1)
	scope := newConfirmer(service(t, asked, func(wire.ConfirmRequest) string { return "" })).open(wire.ModeAsk, "run-1")
	defer scope.close()
	call := someCall
	call.Arguments = state.StringValue(strings.Repeat("x", wire.MaxConfirmRequest))
	if ok, reason := scope.confirm(context.Background(), call); ok || !strings.Contains(reason, "too large") {
		t.Errorf("got %v %q", ok, reason)
	}
	select {
	case <-asked:
		t.Error("the service was asked")
	default:
	}
}
