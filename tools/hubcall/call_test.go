package hubcall_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/hubcall"
	"simplex/wire"
)

const fork = `{"subagent_id":"subagent-1","lifecycle":"preparing"}`

func TestPlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(route string, r wire.ToolRequest) string {
		result := `{"markdown":"- [ ] one","revision":3,"updated_at":"2031-01-01T00:00:00Z"}`
		if route == "plan/replace" {
			result = `{"revision":4,"updated_at":null,"changed":` + map[bool]string{true: "true", false: "false"}[strings.Contains(r.Arguments.String(), "new")] + `}`
		}
		return gives(result)(route, r)
	})
	if got, want := b.ok("plan", `{"operation":"read"}`), "[[revision]]: 3\n\nplan (9 bytes):\n- [ ] one\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := b.ok("plan", `{"operation":"replace","markdown":"new"}`), "[[revision]]: 4\n[[status]]: updated\n"; got != want {
		t.Errorf("got %q", got)
	}
	contains(t, b.ok("plan", `{"operation":"replace","markdown":""}`), "[[status]]: unchanged")
	want := []string{
		`plan/read {"operation":"read"}`,
		`plan/replace {"markdown":"new","operation":"replace"}`,
		`plan/replace {"markdown":"","operation":"replace"}`,
	}
	if got := b.hub.seen(); !slices.Equal(got, want) {
		t.Errorf("calls %q", got)
	}
}

func TestForkAndSend(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(route string, r wire.ToolRequest) string {
		result := fork
		if route == "subagent/send" {
			op, _ := r.Arguments.Get("operation")
			result = `{"subagent_id":"subagent-1","request_id":"q1","operation":` + op.String() + `,"state":"sent"}`
			switch {
			case op == state.StringValue("stop"):
				result = `{"subagent_id":"subagent-1","operation_id":"o1","operation":"stop","state":"stopping"}`
			case op == state.StringValue("compact"):
				result = `{"subagent_id":"subagent-1","request_id":"q1","operation":"compact","state":"rejected","replayed":true}`
			}
		}
		return gives(result)(route, r)
	})
	contains(t, b.ok("subagent_fork", `{}`), "[[subagent_id]]: subagent-1\n[[lifecycle]]: preparing\n[[hint]]: ", "subagent_receive")
	if got, want := b.ok("subagent_send", `{"subagent_id":"subagent-1","operation":"continue","options":null}`),
		"[[subagent_id]]: subagent-1\n[[operation]]: continue\n[[request_id]]: q1\n[[state]]: sent\n"; got != want {
		t.Errorf("got %q", got)
	}
	contains(t, b.ok("subagent_send", `{"subagent_id":"subagent-1","operation":"stop"}`), "[[operation_id]]: o1\n[[state]]: stopping\n[[hint]]: ")
	contains(t, b.ok("subagent_send", `{"subagent_id":"subagent-1","operation":"compact"}`), "[[state]]: rejected\n[[hint]]: ", "[[replayed]]: true")
	want := []string{
		`subagent/clean-fork {}`,
		`subagent/send {"operation":"continue","subagent_id":"subagent-1"}`,
		`subagent/send {"operation":"stop","subagent_id":"subagent-1"}`,
		`subagent/send {"operation":"compact","subagent_id":"subagent-1"}`,
	}
	if got := b.hub.seen(); !slices.Equal(got, want) {
		t.Errorf("calls %q", got)
	}
}

// An answer of another shape is never shown, and after a change it says that the change
// may have been made.
func TestShapesAreStrict(t *testing.T) {
	t.Parallel()
	const sent = `{"subagent_id":"a","request_id":"q","operation":"continue","state":"sent"}`
	for _, c := range []struct{ tool, args, result, want string }{
		{"plan", `{"operation":"read"}`, `{"revision":1,"updated_at":null}`, "markdown is no string; nothing was changed"},
		{"plan", `{"operation":"read"}`, `{"revision":-1,"updated_at":null,"markdown":""}`, "revision is no count"},
		{"plan", `{"operation":"read"}`, `{"revision":1.5,"updated_at":null,"markdown":""}`, "revision is no count"},
		{"plan", `{"operation":"read"}`, `{"revision":1,"markdown":""}`, "updated_at is missing"},
		{"plan", `{"operation":"read"}`, `{"revision":1,"updated_at":5,"markdown":""}`, "updated_at is no string"},
		{"plan", `{"operation":"replace","markdown":""}`, `{"revision":1,"updated_at":null,"changed":1}`, "changed is neither true nor false. The change may have been made"},
		{"subagent_fork", `{}`, `{"subagent_id":"a b","lifecycle":"preparing"}`, "subagent_id is no id. The change may have been made all the same: look for it with subagent_receive"},
		{"subagent_fork", `{}`, `{"subagent_id":"a","lifecycle":"ready"}`, "lifecycle is none of the known words"},
		{"subagent_send", `{"subagent_id":"b","operation":"continue"}`, sent, "subagent_id is another one"},
		{"subagent_send", `{"subagent_id":"a","operation":"compact"}`, sent, "operation is none of the known words"},
		{"subagent_send", `{"subagent_id":"a","operation":"continue"}`, strings.Replace(sent, "sent", "lost", 1), "state is none"},
		{"subagent_send", `{"subagent_id":"a","operation":"continue"}`, strings.Replace(sent, `"q"`, `""`, 1), "request_id is empty"},
		{"subagent_send", `{"subagent_id":"a","operation":"stop"}`, `{"subagent_id":"a","operation":"stop","state":"stopping"}`, "operation_id is no string"},
	} {
		b := newBench(t, gives(c.result))
		contains(t, b.fails(c.tool, c.args), "the Hub's answer is not usable: "+c.want)
	}
}

func TestRejections(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"unauthorized", "invalid_arguments", "policy_forbidden", "unsupported_launch", "unsupported_operation",
		"lifecycle_closed", "disconnected", "limit_exceeded", "request_conflict", "recovery_required", "delivery_unknown",
		"storage_error", "answer_unavailable", "result_too_large", "not_implemented", "invalid_parent",
	} {
		b := newBench(t, refuses(code, "the Hub's own words"))
		message := b.fails("subagent_receive", `{}`)
		contains(t, message, "the Hub refused ("+code+"): ")
		if strings.Contains(message, "own words") {
			t.Errorf("%s: the Hub's message shows: %s", code, message)
		}
		contains(t, b.fails("plan", `{"operation":"read"}`), "the Hub refused ("+code+"): the Hub's own words")
	}
	b := newBench(t, refuses("coffee_break", "back soon"))
	contains(t, b.fails("subagent_fork", `{}`), "the Hub refused (remote_rejection): ")
	contains(t, b.fails("plan", `{"operation":"read"}`), "the Hub refused (remote_rejection): back soon")
	b = newBench(t, refuses("unauthorized", "the token "+token+" is not known"))
	contains(t, b.fails("plan", `{"operation":"read"}`), "(unauthorized): it does not take this run")
}

// What goes wrong on the way is told in our own words, once, and never tried again.
func TestTransportFailures(t *testing.T) {
	t.Parallel()
	other := func(change func(*wire.ToolResponse)) reply {
		return func(route string, r wire.ToolRequest) string {
			o, _ := state.ParseObject([]byte(fork))
			out := wire.ToolResponse{ToolIDs: r.ToolIDs, Route: route, Result: o}
			change(&out)
			return encoded(out)
		}
	}
	for name, c := range map[string]struct {
		answer reply
		want   string
	}{
		"hang up":       {func(string, wire.ToolRequest) string { return "" }, "closed the connection without an answer (code 1006)"},
		"too large":     {func(string, wire.ToolRequest) string { return strings.Repeat(" ", 256<<10+1) }, "larger than 262144 bytes"},
		"no JSON":       {func(string, wire.ToolRequest) string { return "hello" }, "not usable: invalid envelope"},
		"other request": {other(func(r *wire.ToolResponse) { r.RequestID = "x" }), "request_id does not match"},
		"other worker":  {other(func(r *wire.ToolResponse) { r.WorkerID = "x" }), "worker_id does not match"},
		"other route":   {other(func(r *wire.ToolResponse) { r.Route = "plan/read" }), "route does not match"},
	} {
		b := newBench(t, c.answer)
		message := b.fails("subagent_fork", `{}`)
		if !strings.Contains(message, c.want) || !strings.Contains(message, "may have been made all the same: look for it with subagent_receive") {
			t.Errorf("%s: %s", name, message)
		}
		contains(t, b.fails("subagent_receive", `{}`), "nothing was changed, and you may ask again")
		if got := b.hub.seen(); len(got) != 2 {
			t.Errorf("%s: %d calls", name, len(got))
		}
	}
}

func TestNothingWasSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, gives(fork))
	wrong := strings.Replace(b.hub.endpoint(), token, "wrong", 1)
	contains(t, benchOf(t, b.hub, hubcall.Config{Endpoint: wrong}).fails("subagent_fork", `{}`), "refused the connection with status 401; nothing was sent")
	blank := benchOf(t, b.hub, hubcall.Config{
		Endpoint: b.hub.endpoint(),
		IDs:      func() hubcall.IDs { return hubcall.IDs{WorkerID: "w", SessionID: " ", RunID: "r"} },
	})
	contains(t, blank.fails("subagent_fork", `{}`), "no complete identity", "nothing was sent")
	if got := b.hub.seen(); len(got) != 0 {
		t.Errorf("calls %q", got)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	endpoint := "ws://" + l.Addr().String() + "/?token=" + token
	must(t, l.Close())
	message := benchOf(t, nil, hubcall.Config{Endpoint: endpoint}).fails("subagent_fork", `{}`)
	contains(t, message, "the Hub cannot be reached (connect); nothing was sent")
	if strings.Contains(message, "127.0.0.1") {
		t.Errorf("the endpoint shows: %s", message)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	h := newHub(t, func(string, wire.ToolRequest) string { <-end; return "" })
	t.Cleanup(func() { close(end) })
	b := benchOf(t, h, hubcall.Config{Endpoint: h.endpoint(), Timeout: 300 * time.Millisecond})
	contains(t, b.fails("subagent_send", `{"subagent_id":"a","operation":"stop"}`), "did not answer in time. The change may have been made")
}

// A cancelled run does not lose the answer of what it sent, and the ids are those of
// the moment of the call.
func TestCancelledRunStillGetsItsAnswer(t *testing.T) {
	t.Parallel()
	var ids wire.ToolIDs
	h := newHub(t, func(route string, r wire.ToolRequest) string {
		ids = r.ToolIDs
		return gives(fork)(route, r)
	})
	run := "r1"
	b := benchOf(t, h, hubcall.Config{
		Endpoint: h.endpoint(), NewRequestID: func() string { return "q1" },
		IDs: func() hubcall.IDs { return hubcall.IDs{WorkerID: "w", SessionID: "s", RunID: run} },
	})
	run = "r2"
	_, _, call := b.prepare("subagent_fork", `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res := call(ctx); tools.IsError(res) {
		t.Error(res.Output.Raw)
	}
	if want := (wire.ToolIDs{WorkerID: "w", SessionID: "s", RunID: "r2", RequestID: "q1"}); ids != want {
		t.Errorf("ids %+v", ids)
	}
}
