package chat_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/llmtest"
	"simplex/llm/offline"
	"simplex/state"
)

// exchange does one exchange and answers all its calls with `did <n>`.
func exchange(t *testing.T, p *chat.Provider, st *state.State) *state.Message {
	t.Helper()
	m, err := p.Exchange(t.Context(), llm.Request{State: st})
	if err != nil {
		t.Fatal(err)
	}
	step := &state.Step{ModelResponse: m}
	for i, c := range m.Calls {
		step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: c, Output: state.TextContent(fmt.Sprint("did ", i))}))
	}
	st.AppendStep(step)
	return m
}

func checkAll(t *testing.T, server *offline.Server) {
	t.Helper()
	for i, body := range server.Requests() {
		if err := llmtest.CheckRequest(body); err != nil {
			t.Errorf("request %d: %v\n%s", i, err, body)
		}
	}
}

// TestIdsRepeatAcrossRounds: a provider that numbers its calls per round, then gives
// the same id twice, then none.
func TestIdsRepeatAcrossRounds(t *testing.T) {
	t.Parallel()
	round := func(ids ...string) offline.Reply {
		var r offline.Reply
		for _, id := range ids {
			r.Calls = append(r.Calls, offline.Call{ID: id, Name: "f", Arguments: "{}"})
		}
		return r
	}
	server, p := serve(t, chat.Generic(), round("t:0", "t:1"), round("t:0", "t:1"), round("x", "x"), round("", ""), offline.Reply{Text: "done"})
	st := conversation("go")
	seen := map[string]bool{}
	for range 5 {
		for _, c := range exchange(t, p, st).Calls {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("id %q comes twice", c.ID)
			}
			seen[c.ID] = true
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d calls", len(seen))
	}
	checkAll(t, server)
}

// TestBrokenArgumentsDoNotPoisonTheConversation: the next request passes a server that
// refuses arguments it cannot parse, also after the state went through its file form.
func TestBrokenArgumentsDoNotPoisonTheConversation(t *testing.T) {
	t.Parallel()
	server, p := serve(t, chat.Generic(),
		offline.Reply{Calls: []offline.Call{{ID: "c", Name: "f", Arguments: `{"command": "git commit -m \"x}`}}},
		offline.Reply{Text: "sorry"}, offline.Reply{Text: "again"})
	st := conversation("go")
	if m := exchange(t, p, st); m.Calls[0].Arguments.Kind() != '"' {
		t.Errorf("arguments %s", m.Calls[0].Arguments)
	}
	exchange(t, p, st)
	var file bytes.Buffer
	if err := state.Encode(&file, st); err != nil {
		t.Fatal(err)
	}
	restored, err := state.Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	restored.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "go on")})
	exchange(t, p, restored)
	checkAll(t, server)
	requests := server.Requests()
	head, tail := requests[1], requests[2]
	if !bytes.HasPrefix(tail, bytes.TrimSuffix(head, []byte("]}"))) {
		t.Error("the restored conversation is sent with other bytes")
	}
}

// TestSilentAnswerIsNotSentBack covers servers that refuse empty assistant messages.
func TestSilentAnswerIsNotSentBack(t *testing.T) {
	t.Parallel()
	server, p := serve(t, chat.Generic(), offline.Reply{}, offline.Reply{Text: "hi"})
	st := conversation("go")
	exchange(t, p, st)
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "hello?")})
	exchange(t, p, st)
	checkAll(t, server)
	if body := string(server.Requests()[1]); strings.Contains(body, "assistant") {
		t.Error(body)
	}
}

// BenchmarkStream reads a 200 KB answer in 10,000 chunks from a real server.
func BenchmarkStream(b *testing.B) {
	var body strings.Builder
	for range 10_000 {
		body.WriteString("data: " + delta(`"content":"twenty bytes of text"`) + "\n\n")
	}
	body.WriteString(sse(finish("stop"), done))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body.String())
	}))
	defer server.Close()
	p, err := chat.New(chat.Config{Config: llm.Config{Model: "m", Endpoint: llm.Endpoint{BaseURL: server.URL}}, Dialect: chat.Generic()})
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

// BenchmarkExchange is one short answer over a kept connection: the client's own time.
func BenchmarkExchange(b *testing.B) {
	body := sse(delta(`"content":"hello"`), finish("stop"), done)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	p, err := chat.New(chat.Config{Config: llm.Config{Model: "m", Endpoint: llm.Endpoint{BaseURL: server.URL}}, Dialect: chat.Generic()})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	st := conversation("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Exchange(b.Context(), llm.Request{State: st}); err != nil {
			b.Fatal(err)
		}
	}
}
