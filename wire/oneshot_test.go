package wire_test

import (
	"errors"
	"strings"
	"testing"

	"simplex/state"
	"simplex/wire"
)

var (
	confirmIDs = wire.ConfirmIDs{WorkerID: "w", SessionID: "s", RunID: "r", ConfirmationID: "c"}
	toolIDs    = wire.ToolIDs{WorkerID: "w", SessionID: "s", RunID: "r", RequestID: "q"}
)

func TestConfirmRequest(t *testing.T) {
	t.Parallel()
	call := state.Call{
		Type: state.SerialWrite, Security: state.RequireConfirm, ID: "call-1", Name: "run_command",
		Arguments: object(t, `{"command":"ls","n":1.0}`).Value,
	}
	raw, err := wire.EncodeConfirmRequest(confirmIDs, call)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"confirmation_request","data":{"worker_id":"w","session_id":"s","run_id":"r","confirmation_id":"c","call":{"arguments":{"command":"ls","n":1.0},"id":"call-1","name":"run_command","security":"require_confirm","type":"serial_write"}}}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	got, err := wire.DecodeConfirmRequest(raw)
	if err != nil || got.ConfirmIDs != confirmIDs || got.CallID != "call-1" || got.CallName != "run_command" {
		t.Errorf("%+v, %v", got, err)
	}
	call.Arguments = state.StringValue(strings.Repeat("x", wire.MaxConfirmRequest))
	if _, err := wire.EncodeConfirmRequest(confirmIDs, call); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestDecodeConfirmRequestRefuses(t *testing.T) {
	t.Parallel()
	const good = `{"type":"confirmation_request","data":{"worker_id":"w","session_id":"s","run_id":"r","confirmation_id":"c","call":{"id":"i"}}}`
	if _, err := wire.DecodeConfirmRequest([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"confirmation_request", "tool_request"},
		{`"w"`, `""`},
		{`"w"`, `" "`},
		{`"s"`, `1`},
		{`"run_id":"r",`, ``},
		{`"c"`, `"` + strings.Repeat("c", 129) + `"`},
		{`{"id":"i"}`, `[]`},
		{`{"id":"i"}`, `null`},
		{`"i"`, `7`},
		{`"id":"i"`, `"name":"` + strings.Repeat("n", 257) + `"`},
		{`"data":{`, `"data":[{`},
		{`}}}`, `}}`},
	} {
		_, err := wire.DecodeConfirmRequest([]byte(strings.Replace(good, change[0], change[1], 1)))
		if _, ok := errors.AsType[*wire.ReplyError](err); !ok {
			t.Errorf("%s → %s: %v", change[0], change[1], err)
		}
	}
}

func TestConfirmResponse(t *testing.T) {
	t.Parallel()
	raw, err := wire.EncodeConfirmResponse(wire.ConfirmResponse{ConfirmIDs: confirmIDs, Decision: wire.Approved, Reason: "ok"})
	want := `{"type":"confirmation_response","data":{"worker_id":"w","session_id":"s","run_id":"r","confirmation_id":"c","decision":"approved","reason":"ok"}}`
	if err != nil || string(raw) != want {
		t.Fatalf("%s %v", raw, err)
	}
	got, err := wire.DecodeConfirmResponse(raw, confirmIDs)
	if err != nil || got.Decision != wire.Approved || got.Reason != "ok" {
		t.Errorf("%+v %v", got, err)
	}
	noReason := strings.Replace(want, `,"reason":"ok"`, ``, 1)
	if got, err := wire.DecodeConfirmResponse([]byte(noReason), confirmIDs); err != nil || got.Reason != wire.DefaultReason {
		t.Errorf("%+v %v", got, err)
	}
	for _, change := range [][2]string{
		{"confirmation_response", "confirmation_request"},
		{`"w"`, `"W"`},
		{`"s"`, `"s "`},
		{`"r"`, `null`},
		{`"c"`, `"d"`},
		{`"confirmation_id":"c",`, ``},
		{`"approved"`, `"Approved"`},
		{`"approved"`, `true`},
		{`"decision":"approved",`, ``},
		{`"ok"`, `null`},
		{`"ok"`, `1`},
		{`"ok"`, `"` + strings.Repeat("o", wire.MaxConfirmReply) + `"`},
		{`"reason"`, `"decision"`},
		{`{"type"`, `[{"type"`},
		{`}}`, `}}x`},
		{want, ``},
	} {
		_, err := wire.DecodeConfirmResponse([]byte(strings.Replace(want, change[0], change[1], 1)), confirmIDs)
		if _, ok := errors.AsType[*wire.ReplyError](err); !ok {
			t.Errorf("%s → %.20s: %v", change[0], change[1], err)
		}
	}
}

func TestToolExchange(t *testing.T) {
	t.Parallel()
	raw, err := wire.EncodeToolRequest(wire.ToolRequest{ToolIDs: toolIDs})
	want := `{"type":"tool_request","data":{"worker_id":"w","session_id":"s","run_id":"r","request_id":"q","arguments":{}}}`
	if err != nil || string(raw) != want {
		t.Fatalf("%s %v", raw, err)
	}
	request, err := wire.DecodeToolRequest(raw)
	if err != nil || request.ToolIDs != toolIDs || request.Arguments.String() != "{}" {
		t.Errorf("%+v %v", request, err)
	}
	if _, err := wire.EncodeToolRequest(wire.ToolRequest{}); err == nil {
		t.Error("blank ids were sent")
	}
	large := state.ObjectFrom([]state.Member{{Name: "x", Value: state.StringValue(strings.Repeat("x", wire.MaxToolRequest))}})
	if _, err := wire.EncodeToolRequest(wire.ToolRequest{ToolIDs: toolIDs, Arguments: large}); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := wire.EncodeToolResponse(wire.ToolResponse{ToolIDs: toolIDs, Result: large}); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	for _, response := range []wire.ToolResponse{
		{ToolIDs: toolIDs, Route: "plan/read", Result: object(t, `{"revision":1}`)},
		{ToolIDs: toolIDs, Route: "plan/read", Rejected: &wire.ToolRejection{Code: "unauthorized", Message: "no \"x\""}},
	} {
		raw, err := wire.EncodeToolResponse(response)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.DecodeToolResponse(raw, toolIDs, "plan/read")
		if err != nil || got.Result != response.Result || (got.Rejected == nil) != (response.Rejected == nil) {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
		if got.Rejected != nil && *got.Rejected != *response.Rejected {
			t.Errorf("%+v", got.Rejected)
		}
	}
}

func TestDecodeToolResponseRefuses(t *testing.T) {
	t.Parallel()
	const ids = `{"type":"tool_response","data":{"worker_id":"w","session_id":"s","run_id":"r","request_id":"q",`
	for _, rest := range []string{
		``, `}}`, `"route":"plan/read"}}`, `"route":"plan/read","status":"succeeded"}}`, `"route":"plan/read","status":"succeeded","result":[]}}`,
		`"route":"plan/read","status":"succeeded","result":{},"error":null}}`, `"route":"plan/replace","status":"succeeded","result":{}}}`,
		`"route":1,"status":"succeeded","result":{}}}`, `"route":"plan/read","status":"ok","result":{}}}`, `"route":"plan/read","status":"rejected"}}`,
		`"route":"plan/read","status":"rejected","error":{},"result":{}}}`, `"route":"plan/read","status":"rejected","error":"no"}}`,
		`"route":"plan/read","status":"rejected","error":{"code":"c"}}}`, `"route":"plan/read","status":"rejected","error":{"code":1,"message":"m"}}}`,
		`"route":"plan/read","status":"rejected","error":{"code":"","message":"m"}}}`, `"worker_id":"w","route":"plan/read","status":"succeeded","result":{}}}`,
		`"route":"plan/read","status":"succeeded","result":{"x":"` + strings.Repeat("x", wire.MaxToolReply) + `"}}}`,
	} {
		_, err := wire.DecodeToolResponse([]byte(ids+rest), toolIDs, "plan/read")
		if _, ok := errors.AsType[*wire.ReplyError](err); !ok {
			t.Errorf("%.80s: %v", rest, err)
		}
	}
	other := toolIDs
	other.RequestID = "Q"
	if _, err := wire.DecodeToolResponse([]byte(ids+`"route":"plan/read","status":"succeeded","result":{}}}`), other, "plan/read"); err == nil {
		t.Error("another call's reply was accepted")
	}
}

func TestValidRoute(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]bool{
		"plan/read": true, "subagent/clean-fork": true, "a_1": true,
		"": false, "/": false, "plan/": false, "/plan": false, "Plan": false, "1a": false, "a//b": false, "../x": false, "a b": false, "a?b": false,
	} {
		if wire.ValidRoute(route) != want {
			t.Errorf("%q: %v", route, !want)
		}
	}
}

func FuzzOneShot(f *testing.F) {
	f.Add([]byte(`{"type":"confirmation_response","data":{"worker_id":"w","session_id":"s","run_id":"r","confirmation_id":"c","decision":"denied"}}`))
	f.Add([]byte(`{"type":"tool_response","data":{"worker_id":"w","session_id":"s","run_id":"r","request_id":"q","route":"plan/read","status":"succeeded","result":{}}}`))
	f.Add([]byte(`{"type":"tool_request","data":{"worker_id":"w","session_id":"s","run_id":"r","request_id":"q","arguments":{}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, err := wire.DecodeConfirmResponse(raw, confirmIDs); err == nil && got.Decision != wire.Approved && got.Decision != wire.Denied {
			t.Fatalf("%+v", got)
		}
		if got, err := wire.DecodeToolResponse(raw, toolIDs, "plan/read"); err == nil && (got.Rejected == nil) != got.Result.IsSet() {
			t.Fatalf("%+v", got)
		}
		_, _ = wire.DecodeConfirmRequest(raw)
		if got, err := wire.DecodeToolRequest(raw); err == nil {
			if _, err := wire.EncodeToolRequest(got); err != nil && !errors.Is(err, wire.ErrTooLarge) {
				t.Fatal(err)
			}
		}
	})
}
