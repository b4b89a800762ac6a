package chat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/offline"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve plays a script and gives the server and a provider for it.
func serve(t testing.TB, d chat.Dialect, script ...offline.Reply) (*offline.Server, *chat.Provider) {
	t.Helper()
	server, err := offline.Start(offline.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	d.Endpoint.BaseURL = server.URL()
	p, err := chat.New(chat.Config{
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
	Text, Reasoning, Finish string
	Calls                   []string // id name arguments
	Cost                    string
}

func tell(m *state.Message) told {
	out := told{Text: m.Text()}
	if m.Reasoning != nil {
		out.Reasoning = m.Reasoning.Raw
	}
	finish, _ := m.Extras.Get("finish_reason")
	out.Finish, _ = finish.Text()
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

func delta(members string) string {
	return `{"id":"c1","model":"real","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func call(members string) string { return delta(`"tool_calls":[{` + members + `}]`) }

const done = "[DONE]"

// TestServersDiffer are the quirks that real servers have shown.
func TestServersDiffer(t *testing.T) {
	t.Parallel()
	hello := delta(`"content":"hel"`) + "\n\ndata: " + delta(`"content":"lo"`)
	usage := `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
	file := func(id, name string) string {
		return call(`"index":0,"id":"` + id + `","type":"function","function":{"name":"write_file","arguments":"{\"path\":\"` + name + `\"}"}`)
	}
	three := []string{`c1 write_file {"path":"a"}`, `c2 write_file {"path":"b"}`, `c3 write_file {"path":"c"}`}
	tests := map[string]struct {
		body string
		want told
	}{
		"as the book says":         {sse(hello, finish("stop"), usage, done), told{Text: "hello", Finish: "stop", Cost: "11/7/0"}},
		"usage in the last answer": {sse(hello, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}}`, done), told{Text: "hello", Finish: "stop", Cost: "5/1/4"}},
		"more hits than prompt":    {sse(hello, finish("stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}}`, done), told{Text: "hello", Finish: "stop", Cost: "5/1/5"}},
		"usage is null":            {sse(hello, `{"choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"stop"}],"usage":null}`, done), told{Text: "hello!", Finish: "stop"}},
		"empty choices first":      {sse(`{"choices":[],"prompt_filter_results":[]}`, hello, finish("stop"), done), told{Text: "hello", Finish: "stop"}},
		"no finish_reason":         {sse(hello, done), told{Text: "hello", Finish: "stop"}},
		"no [DONE]":                {sse(hello, finish("stop"), usage), told{Text: "hello", Finish: "stop", Cost: "11/7/0"}},
		"calls, no finish_reason":  {sse(file("c1", "a"), done), told{Finish: "tool_calls", Calls: three[:1]}},
		"index 0 for all":          {sse(file("c1", "a"), file("c2", "b"), file("c3", "c"), finish("tool_calls"), done), told{Finish: "tool_calls", Calls: three}},
		"no index at all": {
			strings.ReplaceAll(sse(file("c1", "a"), file("c2", "b"), file("c3", "c"), finish("tool_calls"), done), `"tool_calls":[{"index":0,`, `"tool_calls":[{`),
			told{Finish: "tool_calls", Calls: three},
		},
		"pieces": {sse(
			call(`"index":0,"id":"c1","function":{"name":"f","arguments":""}`), call(`"index":1,"id":"c2","function":{"name":"g","arguments":"{\"b\""}`),
			call(`"index":0,"function":{"arguments":"{\"a\":"}`), call(`"index":1,"function":{"arguments":":2}"}`), call(`"index":0,"function":{"arguments":"1}"}`),
			finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{`c1 f {"a":1}`, `c2 g {"b":2}`}}},
		"id and name in each piece": {sse(
			call(`"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\""}`), call(`"index":0,"id":"c1","function":{"name":"f","arguments":":1}"}`),
			finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{`c1 f {"a":1}`}}},
		"no ids":          {sse(call(`"index":0,"id":"","function":{"name":"f","arguments":"{}"}`), call(`"index":0,"id":"","function":{"name":"f","arguments":"{}"}`), finish("stop"), done), told{Finish: "stop", Calls: []string{"call f {}", "call~2 f {}"}}},
		"same id twice":   {sse(delta(`"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"x","function":{"name":"g","arguments":"{}"}}]`), finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{"x f {}", "x~2 g {}"}}},
		"no arguments":    {sse(call(`"index":0,"id":"x","function":{"name":"f"}`), finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{"x f {}"}}},
		"bad arguments":   {sse(call(`"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\": \"b"}`), finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{`x f "{\"a\": \"b"`}}},
		"object for text": {sse(call(`"index":0,"id":"x","function":{"name":"f","arguments":{"a":1}}`), finish("tool_calls"), done), told{Finish: "tool_calls", Calls: []string{`x f {"a":1}`}}},
		"function_call":   {sse(delta(`"function_call":{"name":"f","arguments":"{\"a\""}`), delta(`"function_call":{"arguments":":1}"}`), finish("function_call"), done), told{Finish: "function_call", Calls: []string{`call f {"a":1}`}}},
		"comments, CRLF, ping": {
			": processing\r\n\r\nevent: ping\r\n\r\ndata:" + delta(`"content":"hel"`) + "\r\n\r\n: more\r\n\r\ndata: {\"choices\":[{\"index\":0,\r\ndata: \"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
			told{Text: "hello", Finish: "stop"},
		},
		"garbage between":    {sse("{nonsense", hello, `"text"`, "{} {}", finish("stop"), done), told{Text: "hello", Finish: "stop"}},
		"odd types":          {sse(`{"id":7,"created":1.5,"model":null,"error":null,"choices":[{"index":0,"delta":{"content":"hi","role":3,"tool_calls":null},"finish_reason":null,"logprobs":"x"}]}`, finish("stop"), done), told{Text: "hi", Finish: "stop"}},
		"content in parts":   {sse(delta(`"content":[{"type":"text","text":"he"},{"type":"text","text":"llo"}]`), finish("stop"), done), told{Text: "hello", Finish: "stop"}},
		"other choices":      {sse(hello, `{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}`, finish("stop"), done), told{Text: "hello", Finish: "stop"}},
		"reasoning":          {sse(delta(`"reasoning_content":"hm"`), delta(`"reasoning_content":"m","reasoning":"m"`), hello, finish("stop"), done), told{Text: "hello", Reasoning: "hmm", Finish: "stop"}},
		"reasoning by alias": {sse(delta(`"reasoning":"hmm"`), hello, finish("stop"), done), told{Text: "hello", Reasoning: "hmm", Finish: "stop"}},
		"does not stream":    {`{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, told{Text: "hello", Finish: "stop", Cost: "1/2/0"}},
		"says nothing":       {sse(delta(`"role":"assistant","content":""`), finish("stop"), done), told{Finish: "stop"}},
		"lone surrogate":     {sse(delta(`"content":"a\ud83d"`), finish("stop"), done), told{Text: "a\uFFFD", Finish: "stop"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, p := serve(t, chat.Generic(), offline.Reply{Body: test.body})
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
	text := delta(`"content":"half"`)
	openCall := call(`"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}`)
	tests := map[string]struct {
		body  string
		stage llm.Stage
		words string
		tries int
	}{
		"clean end, no finish":        {sse(text), llm.StageRead, "before the answer was complete", 2},
		"nothing":                     {sse(done), llm.StageRead, "before the answer was complete", 2},
		"[DONE] within a call":        {sse(openCall, done), llm.StageRead, "before the answer was complete", 2},
		"rate limit under 200":        {sse(`{"error":{"message":"quota exceeded","code":429}}`, done), llm.StageProvider, "quota exceeded", 2},
		"error after text":            {sse(text, `{"choices":[],"error":{"message":"backend lost"}}`), llm.StageProvider, "backend lost", 1},
		"error as text":               {sse(`{"error":"no such model"}`), llm.StageProvider, "no such model", 1},
		"the chunk is the error":      {sse(`{"object":"error","message":"no such adapter","code":400}`), llm.StageProvider, "no such adapter", 1},
		"event named error":           {"event: error\n" + sse(`{"message":"overloaded"}`), llm.StageProvider, "overloaded", 1},
		"plain JSON error":            {`{"error":{"message":"key expired"}}`, llm.StageProvider, "key expired", 1},
		"a web page":                  {"<html>login</html>", llm.StageProvider, "<html>login", 1},
		"cut, only reasoning":         {sse(delta(`"reasoning_content":"hm"`), finish("length"), done), llm.StageFinish, `"length"`, 1},
		"cut within arguments":        {sse(openCall, finish("length"), done), llm.StageFinish, `"length"`, 1},
		"filtered":                    {sse(finish("content_filter"), done), llm.StageFinish, `"content_filter"`, 1},
		"unknown reason":              {sse(text, finish("eos"), done), llm.StageFinish, `"eos"`, 1},
		"call without a name":         {sse(call(`"index":0,"id":"x","function":{"arguments":"{}"}`), finish("tool_calls"), done), llm.StageAssembly, "no name", 1},
		"window exceeded under a 200": {sse(`{"error":{"message":"Input exceeds the context window","code":"context_length_exceeded"}}`), llm.StageProvider, "context window", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := offline.Reply{Body: test.body}
			server, p := serve(t, chat.Generic(), reply, reply, reply)
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

func TestDeltas(t *testing.T) {
	t.Parallel()
	_, p := serve(t, chat.Generic(),
		offline.Reply{Body: sse(delta(`"content":"ha"`))}, // truncated, tried again
		offline.Reply{Body: sse(delta(`"reasoning_content":"hm"`), delta(`"content":"hello"`), finish("stop"), done)})
	var got []llm.Delta
	m, err := p.Exchange(t.Context(), llm.Request{State: conversation("go"), Delta: func(d llm.Delta) { got = append(got, d) }})
	if err != nil || m.Text() != "hello" {
		t.Fatal(m, err)
	}
	want := []llm.Delta{{Kind: llm.DeltaText, Text: "ha"}, {Kind: llm.DeltaRestart}, {Kind: llm.DeltaReasoning, Text: "hm"}, {Kind: llm.DeltaText, Text: "hello"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExtras(t *testing.T) {
	t.Parallel()
	_, p := serve(t, chat.Generic(), offline.Reply{Body: sse(
		call(`"index":0,"id":"x","function":{"name":"f","arguments":"{}"}`), delta(`"refusal":"I may not"`), finish("tool_calls"),
		`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"cost":0.10}}`, done)})
	m, err := p.Exchange(t.Context(), llm.Request{State: conversation("go")})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := m.Extras.Get("exchange_id")
	var hex string
	var n int
	word, _ := id.Text()
	if _, err := fmt.Sscanf(word, "xchg-%16s-%d", &hex, &n); err != nil || len(hex) != 16 || n != 1 {
		t.Errorf("exchange_id %s", id)
	}
	rest := m.Extras.Without("exchange_id").String()
	if want := `{"completion_id":"c1","finish_reason":"tool_calls","model":"real","usage":{"completion_tokens":1,"cost":0.10,"prompt_tokens":3}}`; rest != want {
		t.Error(rest)
	}
	if got := m.Calls[0].Extras.String(); got != `{"index":0,"type":"function"}` {
		t.Error(got)
	}
	if got := m.Content[0].Extras.String(); got != `{"refusal":"I may not"}` || m.Content[0].Raw != "" {
		t.Error(got)
	}
}

func TestCancelledExchange(t *testing.T) {
	t.Parallel()
	_, p := serve(t, chat.Generic(), offline.Reply{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := p.Exchange(ctx, llm.Request{State: conversation("go")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
