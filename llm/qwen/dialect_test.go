package qwen_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/offline"
	"simplex/llm/qwen"
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

func build(t *testing.T, model, config string, script ...offline.Reply) (*offline.Server, *chat.Provider) {
	t.Helper()
	server, err := offline.Start(offline.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	p, err := chat.New(chat.Config{
		Config:  llm.Config{Name: "qwen", Model: model, Settings: settings(t, config), Endpoint: llm.Endpoint{BaseURL: server.URL()}},
		Dialect: qwen.Dialect(),
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
	const stream = `,"stream":true,"stream_options":{"include_usage":true}`
	for _, test := range []struct{ model, config, want string }{
		{"qwen3.8-max", `{"n":3}`, `"enable_thinking":true,"model":"qwen3.8-max","preserve_thinking":true,"reasoning_effort":"xhigh"` + stream},
		{"qwen3.8-flash", `{}`, `"enable_thinking":true,"model":"qwen3.8-flash","preserve_thinking":false,"reasoning_effort":"xhigh"` + stream},
		{"qwen3.8-flash-2027", `{"reasoning_effort":"max","preserve_thinking":true}`, `"enable_thinking":true,"model":"qwen3.8-flash-2027","preserve_thinking":true,"reasoning_effort":"xhigh"` + stream},
		{"qwen3.8-max", `{"reasoning":{"effort":"high"}}`, `"enable_thinking":true,"model":"qwen3.8-max","preserve_thinking":true,"reasoning_effort":"xhigh"` + stream},
		{"qwen3.8-max", `{"reasoning_effort":"low","enable_thinking":false}`, `"enable_thinking":false,"model":"qwen3.8-max","preserve_thinking":true,"reasoning_effort":"low"` + stream},
		{"qwen3.8-max", `{"thinking_budget":0}`, `"enable_thinking":true,"model":"qwen3.8-max","preserve_thinking":true` + stream + `,"thinking_budget":0`},
		{"qwen3.8-maximal", `{"reasoning_effort":"max","n":1}`, `"model":"qwen3.8-maximal","reasoning_effort":"max"` + stream},
		{"other", `{"thinking_budget":-1,"modalities":["text"],"tool_choice":"auto"}`, `"modalities":["text"],"model":"other"` + stream + `,"thinking_budget":-1,"tool_choice":"auto"`},
	} {
		server, p := build(t, test.model, test.config, offline.Reply{Text: "ok"})
		if _, err := p.Exchange(t.Context(), llm.Request{State: conversation()}); err != nil {
			t.Fatal(err)
		}
		want := "{" + test.want + `,"messages":[{"role":"user","content":"u"}]}`
		if diff := cmp.Diff(want, string(server.Requests()[0])); diff != "" {
			t.Errorf("%s %s: %s", test.model, test.config, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, config := range []string{
		`{"extra_body":{}}`, `{"thinking":true}`, `{"audio":{}}`, `{"reasoning":"high"}`,
		`{"reasoning_effort":"low","thinking_budget":5}`, `{"reasoning":{"effort":"low"},"thinking_budget":5}`,
		`{"enable_thinking":"enabled"}`, `{"preserve_thinking":1}`, `{"tool_stream":"x"}`,
		`{"modalities":["text","audio"]}`, `{"tool_choice":"required"}`,
		`{"thinking_budget":262145}`, `{"thinking_budget":-1}`, `{"thinking_budget":1.5}`, `{"thinking_budget":"4"}`,
	} {
		_, err := chat.New(chat.Config{Config: llm.Config{Model: "qwen3.8-max", Settings: settings(t, config)}, Dialect: qwen.Dialect()})
		if !errors.Is(err, llm.ErrConfig) || !strings.Contains(err.Error(), "/config/") {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func TestOptionsShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ model, config, want string }{
		{"qwen3.8-max", `{}`, `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"xhigh"}`},
		{"qwen3.8-max", `{"enable_thinking":false,"reasoning":{"effort":"high"}}`, `{"enable_thinking":"disabled","model":"qwen3.8-max","reasoning_effort":"xhigh"}`},
		{"qwen3.8-max", `{"thinking_budget":4096}`, `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"low"}`},
		{"qwen3.8-max", `{"thinking_budget":4097}`, `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"medium"}`},
		{"qwen3.8-max", `{"thinking_budget":16384}`, `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"medium"}`},
		{"qwen3.8-max", `{"thinking_budget":16385}`, `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"xhigh"}`},
		{"other", `{}`, `{"model":"other"}`},
	} {
		_, p := build(t, test.model, test.config)
		if got := p.Options().Current.String(); got != test.want {
			t.Errorf("%s %s: %s", test.model, test.config, got)
		}
	}
}

func TestOptionsChosen(t *testing.T) {
	t.Parallel()
	server, p := build(t, "qwen3.8-max", `{"thinking_budget":100}`, offline.Reply{Text: "a"}, offline.Reply{Text: "b"})
	for _, bad := range []string{`{"enable_thinking":true}`, `{"reasoning_effort":"high"}`, `{"reasoning_effort":"low","thinking_budget":"1"}`, `{"model":"other"}`} {
		if err := p.SetOptions(settings(t, bad)); !errors.Is(err, llm.ErrInvalidOption) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if got := p.Options().Current.String(); got != `{"enable_thinking":"enabled","model":"qwen3.8-max","reasoning_effort":"low"}` {
		t.Errorf("a refused choice changed something: %s", got)
	}
	if err := p.SetOptions(settings(t, `{"model":"qwen3.8-flash","enable_thinking":"disabled","reasoning_effort":"medium"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Exchange(t.Context(), llm.Request{State: conversation()}); err != nil {
		t.Fatal(err)
	}
	want := `{"enable_thinking":false,"model":"qwen3.8-flash","preserve_thinking":false,"reasoning_effort":"medium","stream"`
	if body := string(server.Requests()[0]); !strings.HasPrefix(body, want) || strings.Contains(body, "budget") {
		t.Error(body)
	}
}

// TestReasoningGoesBack only where thinking is preserved, also when that changes
// between two requests.
func TestReasoningGoesBack(t *testing.T) {
	t.Parallel()
	server, p := build(t, "qwen3.8-max", `{}`, offline.Reply{Text: "a"}, offline.Reply{Text: "b"})
	st := conversation()
	thought := state.TextContent("hm")
	m := state.NewTextMessage(state.ModelResponse, "", "said")
	m.Reasoning = &thought
	st.AppendStep(&state.Step{ModelResponse: m})
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "more")})
	for _, model := range []string{"qwen3.8-max", "qwen3.8-flash"} {
		if err := p.SetOptions(state.EmptyObject().With("model", state.StringValue(model))); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Exchange(t.Context(), llm.Request{State: st}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false} {
		if body := string(server.Requests()[i]); strings.Contains(body, `"reasoning_content":"hm"`) != want {
			t.Error(body)
		}
	}
}
