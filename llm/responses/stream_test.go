package responses_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/offline"
	"simplex/llm/responses"
	"simplex/llm/strict"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve plays a script and gives the server and a provider for it.
func serve(t testing.TB, script ...offline.Reply) (*offline.Server, *responses.Provider) {
	t.Helper()
	server, err := offline.Start(offline.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	d := responses.OpenAI()
	d.Endpoint.BaseURL = server.URL()
	p, err := responses.New(responses.Config{
		Config: llm.Config{
			Name: "test", Model: "m",
			Retry: llm.Retry{MaxAttempts: 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, IdleTimeout: 20 * time.Second},
		},
		Dialect: d,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return server, p
}

func conversation(input string) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", input)})
	return st
}

// told is what a response says, in short.
type told struct {
	Text, Reasoning, Refusal, Order string
	Calls                           []string // id name arguments
	Cost                            string
}

func tell(m *state.Message) told {
	out := told{Text: m.Text()}
	if m.Reasoning != nil {
		out.Reasoning = m.Reasoning.Raw
	}
	for _, c := range m.Content {
		refusal, _ := c.Extras.Get("refusal")
		out.Refusal, _ = refusal.Text()
	}
	order, _ := m.Extras.Get("output_order")
	out.Order = order.String()
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, fmt.Sprintf("%s %s %s", c.ID, c.Name, c.Arguments))
	}
	if m.Cost != nil {
		out.Cost = fmt.Sprintf("%d/%d/%d", m.Cost.Prompt, m.Cost.Generated, m.Cost.CacheHit)
	}
	return out
}

func sse(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func done(item string) string { return `{"type":"response.output_item.done","item":` + item + `}` }

func added(item string) string { return `{"type":"response.output_item.added","item":` + item + `}` }

func says(text string) string {
	return `{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
}

func calls(id, arguments string) string {
	return `{"type":"function_call","id":"fc_` + id + `","call_id":"` + id + `","name":"f","arguments":` + arguments + `}`
}

func completed(members ...string) string {
	return `{"type":"response.completed","response":{` + strings.Join(append([]string{`"id":"resp"`, `"status":"completed"`}, members...), ",") + `}}`
}

const (
	delta = `{"type":"response.output_text.delta","delta":"hel"}` + "\n\ndata: " + `{"type":"response.output_text.delta","delta":"lo"}`
	usage = `"usage":{"input_tokens":11,"output_tokens":7,"input_tokens_details":{"cached_tokens":4}}`
	seal  = `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"x"}`
)

// TestServersDiffer are streams that end with an answer.
func TestServersDiffer(t *testing.T) {
	t.Parallel()
	hello := says("hello")
	for name, test := range map[string]struct {
		body string
		want told
	}{
		"as the book says":         {sse(`{"type":"response.created","response":{"id":"resp"}}`, added(hello), delta, done(hello), completed(`"output":[`+hello+`]`, usage)), told{Text: "hello", Cost: "11/7/4"}},
		"empty list at the end":    {sse(added(hello), done(hello), completed(`"output":[]`)), told{Text: "hello"}},
		"only the list at the end": {sse(completed(`"output":[` + seal + `,` + hello + `,` + calls("c", `"{\"a\":1}"`) + `]`)), told{Text: "hello", Reasoning: "one\n\ntwo", Calls: []string{`c f {"a":1}`}}},
		"only deltas":              {sse(`{"type":"response.reasoning_text.delta","delta":"hm"}`, delta, completed()), told{Text: "hello", Reasoning: "hm"}},
		"names of events alone":    {"event: response.output_item.done\ndata: {\"item\":" + hello + "}\n\nevent: response.completed\ndata: {\"response\":{}}\n\n", told{Text: "hello"}},
		"says nothing":             {sse(completed(`"output":[]`)), told{}},
		"refusal":                  {sse(completed(`"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]`)), told{Refusal: "no"}},
		"reasoning in the open":    {sse(completed(`"output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},` + hello + `]`)), told{Text: "hello", Reasoning: "hm"}},
		"two calls, one id":        {sse(done(calls("c", `"{}"`)), done(calls("c", `"{}"`)), completed()), told{Calls: []string{"c f {}", "c~2 f {}"}}},
		"no call_id":               {sse(done(`{"type":"function_call","id":"fc","name":"f","arguments":""}`), completed()), told{Calls: []string{"fc f {}"}}},
		"no id at all":             {sse(done(`{"type":"function_call","name":"f"}`), completed()), told{Calls: []string{"call f {}"}}},
		"bad arguments":            {sse(done(calls("c", `"{\"a\": \"b"`)), completed()), told{Calls: []string{`c f "{\"a\": \"b"`}}},
		"object for text":          {sse(done(calls("c", `{"a":1}`)), completed()), told{Calls: []string{`c f {"a":1}`}}},
		"another order":            {sse(done(hello), done(seal), done(calls("c", `"{}"`)), completed()), told{Text: "hello", Reasoning: "one\n\ntwo", Calls: []string{"c f {}"}, Order: `["message","reasoning","function_call"]`}},
		"unknown kinds":            {sse(`{"type":"response.web_search_call.searching"}`, done(`{"type":"web_search_call","id":"w"}`), done(hello), completed()), told{Text: "hello"}},
		"garbage between":          {sse("{nonsense", `"text"`, `{"type":7,"delta":{},"item":3}`, done(hello), completed()), told{Text: "hello"}},
		"comments and CRLF":        {": wait\r\n\r\ndata:" + done(hello) + "\r\n\r\ndata:" + completed() + "\r\n\r\n", told{Text: "hello"}},
		"lone surrogate":           {sse(done(says(`a\ud83d`)), completed()), told{Text: "a\uFFFD"}},
		"does not stream":          {`{"id":"resp","status":"completed","output":[` + hello + `],` + usage + `}`, told{Text: "hello", Cost: "11/7/4"}},
		"more hits than prompt":    {sse(done(hello), completed(`"usage":{"input_tokens":1,"output_tokens":1,"input_tokens_details":{"cached_tokens":9}}`)), told{Text: "hello", Cost: "1/1/1"}},
		"usage is null":            {sse(done(hello), completed(`"usage":null`)), told{Text: "hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, p := serve(t, offline.Reply{Body: test.body})
			m, err := p.Exchange(t.Context(), llm.Request{State: conversation("go")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, tell(m)); diff != "" {
				t.Error(diff)
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestNoAnswer are streams that are failures, and how often they are tried (with one
// retry allowed).
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	hello := done(says("hello"))
	for name, test := range map[string]struct {
		body  string
		stage llm.Stage
		words string
		tries int
	}{
		"no terminal event":       {sse(delta, hello), llm.StageRead, "before the answer was complete", 2},
		"[DONE] alone":            {sse(hello, "[DONE]"), llm.StageRead, "before the answer was complete", 2},
		"nothing":                 {"\n\n", llm.StageRead, "before the answer was complete", 2},
		"a call was not finished": {sse(added(calls("c", `""`)), completed(`"output":[]`)), llm.StageRead, "before the answer was complete", 2},
		"failed":                  {sse(hello, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"we are sorry"}}}`), llm.StageProvider, "we are sorry", 1},
		"failed without a word":   {sse(`{"type":"response.failed","response":{}}`), llm.StageProvider, "without a reason", 1},
		"completed, but failed":   {sse(strings.Replace(completed(`"error":{"message":"oh"}`), `"status":"completed"`, `"status":"failed"`, 1)), llm.StageProvider, "oh", 1},
		"incomplete":              {sse(hello, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), llm.StageFinish, `"max_output_tokens": it was cut`, 1},
		"filtered":                {sse(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), llm.StageFinish, `"content_filter"`, 1},
		"unknown reason":          {sse(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"eos"}}}`), llm.StageFinish, `"eos"`, 1},
		"cancelled":               {sse(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), llm.StageFinish, `"cancelled"`, 1},
		"error":                   {sse(`{"type":"error","code":"server_error","message":"lost"}`), llm.StageProvider, "lost", 1},
		"error as a member":       {sse(`{"type":"error","error":{"message":"lost"}}`), llm.StageProvider, "lost", 1},
		"rate limit":              {sse(`{"error":{"message":"quota exceeded","code":429}}`), llm.StageProvider, "quota exceeded", 2},
		"event named error":       {"event: error\n" + sse(`{"message":"overloaded"}`), llm.StageProvider, "overloaded", 1},
		"plain JSON error":        {`{"error":{"message":"key expired"}}`, llm.StageProvider, "key expired", 1},
		"plain JSON, no answer":   {`{"detail":"Not Found"}`, llm.StageProvider, "Not Found", 1},
		"a web page":              {"<html>login</html>", llm.StageProvider, "<html>login", 1},
		"call without a name":     {sse(done(`{"type":"function_call","call_id":"c","arguments":"{}"}`), completed()), llm.StageAssembly, "no name", 1},
		"window exceeded":         {sse(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`), llm.StageProvider, "context window", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := offline.Reply{Body: test.body}
			server, p := serve(t, reply, reply, reply)
			m, err := p.Exchange(t.Context(), llm.Request{State: conversation("go")})
			failed, ok := errors.AsType[*llm.Error](err)
			if !ok || m != nil {
				t.Fatalf("%v, %v", m, err)
			}
			if failed.Stage != test.stage || !strings.Contains(err.Error(), test.words) || len(server.Requests()) != test.tries {
				t.Errorf("%d tries: %v", len(server.Requests()), err)
			}
			if want := strings.Contains(name, "window"); failed.ContextExceeded() != want {
				t.Errorf("ContextExceeded is %v", !want)
			}
		})
	}
}

// TestItemsComeBackAsTheyWere: reasoning with its encrypted content, the message and
// the call of one answer are in the next request, byte for byte.
func TestItemsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	server, p := serve(t,
		offline.Reply{Reasoning: "hm", Text: "let me see", Calls: []offline.Call{{ID: "c", Name: "f", Arguments: `{"b": 1}`}}},
		offline.Reply{Text: "so"})
	st := conversation("go")
	m, err := p.Exchange(t.Context(), llm.Request{State: st})
	if err != nil {
		t.Fatal(err)
	}
	result := state.NewResultMessage(state.Result{Call: m.Calls[0], Output: state.TextContent("r")})
	st.AppendStep(&state.Step{ModelResponse: m, Returns: []*state.Message{result}})
	if _, err := p.Exchange(t.Context(), llm.Request{State: st}); err != nil {
		t.Fatal(err)
	}
	body := server.Requests()[1]
	if err := strict.Responses(body); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`{"encrypted_content":"aG0=","id":"rs_offline_1_0","summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"},{"content":[{"annotations":[],"text":"let me see","type":"output_text"}],"id":"msg_offline_1_1","role":"assistant","status":"completed","type":"message"},`,
		`{"arguments":"{\"b\": 1}","call_id":"c","id":"fc_offline_1_2","name":"f","status":"completed","type":"function_call"},{"type":"function_call_output","call_id":"c","output":"r"}`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s\nis not in\n%s", want, body)
		}
	}
	keys := []string{}
	for name := range m.Extras.All() {
		keys = append(keys, name)
	}
	if diff := cmp.Diff([]string{"exchange_id", "output_items", "response_id", "usage"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestDeltas(t *testing.T) {
	t.Parallel()
	_, p := serve(t,
		offline.Reply{Body: sse(`{"type":"response.output_text.delta","delta":"ha"}`)}, // truncated, tried again
		offline.Reply{Body: sse(`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, delta, completed())})
	var got []llm.Delta
	m, err := p.Exchange(t.Context(), llm.Request{State: conversation("go"), Delta: func(d llm.Delta) { got = append(got, d) }})
	if err != nil || m.Text() != "hello" {
		t.Fatal(m, err)
	}
	want := []llm.Delta{{Kind: llm.DeltaText, Text: "ha"}, {Kind: llm.DeltaRestart}, {Kind: llm.DeltaReasoning, Text: "hm"}, {Kind: llm.DeltaText, Text: "hel"}, {Kind: llm.DeltaText, Text: "lo"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledExchange(t *testing.T) {
	t.Parallel()
	_, p := serve(t, offline.Reply{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := p.Exchange(ctx, llm.Request{State: conversation("go")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	_, p := serve(t)
	if got := p.Options().Current.String(); got != `{"model":"m"}` {
		t.Error(got)
	}
	if err := p.SetOptions(state.EmptyObject().With("model", state.StringValue("other"))); !errors.Is(err, llm.ErrInvalidOption) {
		t.Error(err)
	}
}

// BenchmarkStream reads a 200 KB answer in 10,000 events from a real server.
func BenchmarkStream(b *testing.B) {
	var body strings.Builder
	for range 10_000 {
		body.WriteString("event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"twenty bytes of text","sequence_number":7}` + "\n\n")
	}
	whole := says(strings.Repeat("twenty bytes of text", 10_000))
	body.WriteString(sse(done(whole), completed(`"output":[`+whole+`]`)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body.String())
	}))
	defer server.Close()
	p, err := responses.New(responses.Config{Config: llm.Config{Model: "m", Endpoint: llm.Endpoint{BaseURL: server.URL}}, Dialect: responses.OpenAI()})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		m, err := p.Exchange(b.Context(), llm.Request{State: conversation("go")})
		if err != nil || len(m.Content[0].Raw) != 200_000 {
			b.Fatal(err)
		}
	}
}
