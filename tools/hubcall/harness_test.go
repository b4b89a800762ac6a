package hubcall_test

import (
	"context"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
	"gopkg.in/yaml.v3"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/hubcall"
	"simplex/wire"
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

var update = flag.Bool("update", false, "write schema/bundle.json anew")

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// decodeYAML is what the host gives in.
func decodeYAML(_ string, raw []byte) (state.Value, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return state.Value{}, err
	}
	return state.ValueOf(v)
}

// token is part of the endpoint, and must not be seen anywhere.
const token = "s3cret"

// reply answers one request on a route: with a raw message, or "" to hang up.
type reply func(route string, r wire.ToolRequest) string

// hub is a WebSocket server that takes one call per connection.
type hub struct {
	tb     testing.TB
	server *httptest.Server
	answer reply

	mu    sync.Mutex
	calls []string // route and arguments
}

func newHub(tb testing.TB, answer reply) *hub {
	tb.Helper()
	h := &hub{tb: tb, answer: answer}
	h.server = httptest.NewServer(http.HandlerFunc(h.serve))
	tb.Cleanup(h.server.Close)
	return h
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("token") != token {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	up := websocket.Upgrader{}
	c, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()
	_, raw, err := c.ReadMessage()
	if err != nil {
		return
	}
	request, err := wire.DecodeToolRequest(raw)
	if err != nil {
		h.tb.Errorf("request %s: %v", raw, err)
		return
	}
	route := strings.TrimPrefix(r.URL.Path, "/tools/")
	h.mu.Lock()
	h.calls = append(h.calls, route+" "+request.Arguments.String())
	h.mu.Unlock()
	out := h.answer(route, request)
	if out == "" {
		return
	}
	if err := c.WriteMessage(websocket.TextMessage, []byte(out)); err == nil {
		_, _, _ = c.ReadMessage() // the close
	}
}

// seen lists the calls so far.
func (h *hub) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.calls...)
}

func (h *hub) endpoint() string {
	return "ws" + strings.TrimPrefix(h.server.URL, "http") + "/tools/?token=" + token
}

// gives answers every call with the same result.
func gives(result string) reply {
	return func(route string, r wire.ToolRequest) string {
		o, err := state.ParseObject([]byte(result))
		if err != nil {
			panic(err)
		}
		return encoded(wire.ToolResponse{ToolIDs: r.ToolIDs, Route: route, Result: o})
	}
}

// refuses answers every call with a rejection.
func refuses(code, message string) reply {
	return func(route string, r wire.ToolRequest) string {
		return encoded(wire.ToolResponse{ToolIDs: r.ToolIDs, Route: route, Rejected: &wire.ToolRejection{Code: code, Message: message}})
	}
}

func encoded(r wire.ToolResponse) string {
	raw, err := wire.EncodeToolResponse(r)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// bench is a registry with the four tools, calling one hub.
type bench struct {
	tb       testing.TB
	hub      *hub
	registry *tools.Registry
}

func newBench(tb testing.TB, answer reply) *bench {
	tb.Helper()
	h := newHub(tb, answer)
	return benchOf(tb, h, hubcall.Config{Endpoint: h.endpoint(), Timeout: 20 * time.Second})
}

func benchOf(tb testing.TB, h *hub, cfg hubcall.Config) *bench {
	tb.Helper()
	if cfg.IDs == nil {
		cfg.IDs = func() hubcall.IDs { return hubcall.IDs{WorkerID: "w", SessionID: "s", RunID: "r"} }
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	set, err := hubcall.New(cfg)
	must(tb, err)
	b := &bench{tb: tb, hub: h, registry: tools.NewRegistry(nil)}
	must(tb, b.registry.Add(set))
	return b
}

func (b *bench) prepare(name, args string) (state.Call, state.Call, func(context.Context) state.Result) {
	b.tb.Helper()
	v, err := state.ParseValue([]byte(args))
	must(b.tb, err)
	call := state.Call{ID: "c", Name: name, Arguments: v}
	settled, run := b.registry.Prepare(call, nil)
	return call, settled, run
}

func (b *bench) call(name, args string) state.Result {
	b.tb.Helper()
	_, _, run := b.prepare(name, args)
	res := run(b.tb.Context())
	if !utf8.ValidString(res.Output.Raw) || len(res.Output.Raw) > 256<<10 {
		b.tb.Errorf("unfit: %d bytes", len(res.Output.Raw))
	}
	if strings.Contains(res.Output.Raw, token) || b.hub != nil && strings.Contains(res.Output.Raw, b.hub.server.Listener.Addr().String()) {
		b.tb.Errorf("the endpoint shows in: %s", res.Output.Raw)
	}
	return res
}

func (b *bench) ok(name, args string) string {
	b.tb.Helper()
	res := b.call(name, args)
	if tools.IsError(res) {
		b.tb.Fatalf("%s %s: %s", name, args, res.Output.Raw)
	}
	return res.Output.Raw
}

// fails makes a call that must fail when it is run, and gives its bare message.
func (b *bench) fails(name, args string) string {
	b.tb.Helper()
	res := b.call(name, args)
	e, _ := res.Extras.Get("error")
	o, err := e.Object()
	if err != nil {
		b.tb.Fatalf("%s %s did not fail: %s", name, args, res.Output.Raw)
	}
	if stage, _ := o.Get("stage"); stage != state.StringValue("invoke") {
		b.tb.Errorf("%s failed at %s", name, stage)
	}
	m, _ := o.Get("message")
	message, _ := m.Text()
	return message
}

func contains(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%q is missing in:\n%.3000s", part, text)
		}
	}
}
