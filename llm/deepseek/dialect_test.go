package deepseek_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/deepseek"
	"simplex/llm/offline"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func settings(t *testing.T, raw string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func build(t *testing.T, config string, script ...offline.Reply) (*offline.Server, *chat.Provider) {
	t.Helper()
	server, err := offline.Start(offline.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	p, err := chat.New(chat.Config{
		Config:  llm.Config{Name: "deepseek", Model: "deepseek-flash", Settings: settings(t, config), Endpoint: llm.Endpoint{BaseURL: server.URL()}},
		Dialect: deepseek.Dialect(),
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

func conversation() *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "u")})
	return st
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const stream = `"stream":true,"stream_options":{"include_usage":true}`
	for config, want := range map[string]string{
		`{}`: stream,
		`{"n":2,"frequency_penalty":1,"presence_penalty":1,"top_p":0.5}`: stream + `,"top_p":0.5`,
		`{"reasoning_effort":"high"}`:                                    `"reasoning_effort":"high",` + stream + `,"thinking":{"type":"enabled"}`,
		`{"reasoning":{"effort":"max"}}`:                                 `"reasoning_effort":"max",` + stream + `,"thinking":{"type":"enabled"}`,
		`{"reasoning_effort":"none"}`:                                    stream + `,"thinking":{"type":"disabled"}`,
		`{"reasoning_effort":"minimal","thinking":true}`:                 stream + `,"thinking":{"type":"disabled"}`,
		`{"thinking":true}`:                                              stream + `,"thinking":{"type":"enabled"}`,
		`{"thinking":"disabled"}`:                                        stream + `,"thinking":{"type":"disabled"}`,
		`{"thinking":null}`:                                              stream,
		`{"thinking":{"type":"enabled","budget":7}}`:                     stream + `,"thinking":{"budget":7,"type":"enabled"}`,
	} {
		server, p := build(t, config, offline.Reply{Text: "ok"})
		if _, err := p.Exchange(t.Context(), llm.Request{State: conversation()}); err != nil {
			t.Fatal(err)
		}
		full := `{"model":"deepseek-flash",` + want + `,"messages":[{"role":"user","content":"u"}]}`
		if diff := cmp.Diff(full, string(server.Requests()[0])); diff != "" {
			t.Errorf("%s: %s", config, diff)
		}
	}
	_, err := chat.New(chat.Config{Config: llm.Config{Model: "m", Settings: settings(t, `{"thinking":"maybe"}`)}, Dialect: deepseek.Dialect()})
	if !errors.Is(err, llm.ErrConfig) {
		t.Error(err)
	}
}

// TestReasoningGoesBack: the model wants the reasoning of its tool calls back.
func TestReasoningGoesBack(t *testing.T) {
	t.Parallel()
	server, p := build(t, `{}`,
		offline.Reply{Reasoning: "hm", Text: "let me see", Calls: []offline.Call{{ID: "c", Name: "f", Arguments: "{}"}}},
		offline.Reply{Text: "so"})
	st := conversation()
	m, err := p.Exchange(t.Context(), llm.Request{State: st})
	if err != nil || m.Text() != "let me see" || m.Reasoning.Raw != "hm" {
		t.Fatal(m, err)
	}
	st.AppendStep(&state.Step{ModelResponse: m, Returns: []*state.Message{state.NewResultMessage(state.Result{Call: m.Calls[0], Output: state.TextContent("r")})}})
	if _, err := p.Exchange(t.Context(), llm.Request{State: st}); err != nil {
		t.Fatal(err)
	}
	if body := string(server.Requests()[1]); !strings.Contains(body, `{"role":"assistant","content":"let me see","reasoning_content":"hm","tool_calls":[`) {
		t.Error(body)
	}
}

func TestCacheHits(t *testing.T) {
	t.Parallel()
	_, p := build(t, `{}`, offline.Reply{Header: map[string]string{"Content-Type": "text/event-stream"}, Body: `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8}}` + "\n\ndata: [DONE]\n\n"})
	m, err := p.Exchange(t.Context(), llm.Request{State: conversation()})
	if err != nil || m.Cost == nil || m.Cost.CacheHit != 8 {
		t.Error(m, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	server, p := build(t, `{"reasoning":{"effort":"low"}}`, offline.Reply{Text: "a"}, offline.Reply{Status: http.StatusBadRequest})
	if got := p.Options().Current.String(); got != `{"model":"deepseek-flash","reasoning_effort":"low"}` {
		t.Error(got)
	}
	for _, bad := range []string{`{"model":"deepseek-v4-pro","reasoning_effort":"extreme"}`, `{"temperature":"1"}`, `{"model":null}`} {
		if err := p.SetOptions(settings(t, bad)); !errors.Is(err, llm.ErrInvalidOption) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if got := p.Options().Current.String(); got != `{"model":"deepseek-flash","reasoning_effort":"low"}` {
		t.Errorf("a refused choice changed something: %s", got)
	}
	if err := p.SetOptions(settings(t, `{"model":"deepseek-v4-pro","reasoning_effort":"max"}`)); err != nil {
		t.Fatal(err)
	}
	if got := p.Options().Current.String(); got != `{"model":"deepseek-v4-pro","reasoning_effort":"max"}` {
		t.Error(got)
	}
	if _, err := p.Exchange(t.Context(), llm.Request{State: conversation()}); err != nil {
		t.Fatal(err)
	}
	if body := string(server.Requests()[0]); !strings.HasPrefix(body, `{"model":"deepseek-v4-pro","reasoning_effort":"max",`) {
		t.Error(body)
	}
}
