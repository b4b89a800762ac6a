package exchange_test

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
	"simplex/llm/exchange"
	"simplex/llm/post"
	"simplex/llm/replay"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain is a protocol of few words: the inputs go out as a list, and every event of the
// answer is a piece of text until "end".
type plain struct {
	delta func(llm.Delta)
	text  string
}

func (*plain) Head(settings state.Object, _ []state.Tool) (head []byte, anew bool, err error) {
	model, _ := settings.Get("model")
	return []byte(`{"model":` + model.String()), false, nil
}
func (*plain) Prompt(string) []byte { return []byte(`,"said":[`) }

func (*plain) User(dst []byte, m *state.Message) ([]byte, error) {
	if m.Text() == "unspeakable" {
		return nil, errors.ErrUnsupported
	}
	return fmt.Appendf(dst, ",%q", m.Text()), nil
}

func (*plain) Step(dst []byte, _ *state.Step, _ *replay.IDs) ([]byte, error) { return dst, nil }

func (p *plain) Read(s *post.Stream) error {
	for {
		event, err := s.Next()
		if errors.Is(err, io.EOF) {
			return &llm.Error{Stage: llm.StageRead, Err: llm.ErrTruncated, Transient: true}
		}
		if err != nil || string(event.Data) == "end" {
			return err
		}
		p.text += string(event.Data)
		if p.delta != nil {
			p.delta(llm.Delta{Kind: llm.DeltaText, Text: string(event.Data)})
		}
	}
}

func (p *plain) Message(_ *replay.IDs, exchangeID string) (*state.Message, error) {
	return state.NewTextMessage(state.ModelResponse, "assistant", p.text+" "+exchangeID), nil
}

// serve answers one request after the other with these events, and tells the bodies.
func serve(t *testing.T, answers ...string) (*exchange.Provider, <-chan string) {
	t.Helper()
	bodies := make(chan string, len(answers))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range strings.FieldsSeq(answers[len(bodies)]) {
			fmt.Fprintf(w, "data: %s\n\n", piece)
		}
		bodies <- string(raw)
	}))
	p, err := exchange.New(exchange.Config{
		Model: llm.Config{
			Name: "test", Model: "m", Endpoint: llm.Endpoint{BaseURL: server.URL}, Random: func() uint64 { return 7 },
			Retry: llm.Retry{MaxAttempts: len(answers) - 1, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond},
		},
		Defaults: llm.Endpoint{BaseURL: "https://overlaid.invalid", RequestPath: "/v1"},
		Rules:    llm.SettingRules{Options: []llm.Option{{Name: "model", Options: []string{"m", "n"}}}},
		Form:     func() replay.Form { return &plain{} },
		Answer:   func(delta func(llm.Delta)) exchange.Answer { return &plain{delta: delta} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return p, bodies
}

func conversation(input string) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", input)})
	return st
}

// TestTriesBeginAnew: nothing of a failed try is in the answer, whoever watches is told
// to forget what it has shown, and only that.
func TestTriesBeginAnew(t *testing.T) {
	t.Parallel()
	for _, watching := range []bool{true, false} {
		p, bodies := serve(t, "ha", "", "hm hm", "hel lo end")
		var shown []string
		req := llm.Request{State: conversation("hi")}
		if watching {
			req.Delta = func(d llm.Delta) { shown = append(shown, d.Kind+d.Text) }
		}
		m, err := p.Exchange(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if want := "hello xchg-0000000000000007-1"; m.Text() != want {
			t.Errorf("%q, want %q", m.Text(), want)
		}
		var want []string
		if watching {
			want = []string{"textha", "restart", "texthm", "texthm", "restart", "texthel", "textlo"}
		}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Error(diff)
		}
		for range 4 {
			if got := <-bodies; got != `{"model":"m","said":["hi"]}` {
				t.Errorf("sent: %s", got)
			}
		}
	}
}

func TestOptionsCountFromTheNextExchange(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, "end")
	choose := func(model string) error {
		return p.SetOptions(state.ObjectFrom([]state.Member{{Name: "model", Value: state.StringValue(model)}}))
	}
	if err := choose("o"); !errors.Is(err, llm.ErrInvalidOption) || !strings.Contains(err.Error(), "provider test") {
		t.Errorf("not advertised: %v", err)
	}
	if err := choose("n"); err != nil {
		t.Fatal(err)
	}
	if got := p.Options().Current.String(); got != `{"model":"n"}` {
		t.Errorf("options: %s", got)
	}
	if _, err := p.Exchange(t.Context(), llm.Request{State: conversation("hi")}); err != nil {
		t.Fatal(err)
	}
	if got := <-bodies; got != `{"model":"n","said":["hi"]}` {
		t.Errorf("sent: %s", got)
	}
}

func TestFailuresGiveNoMessage(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, "ha")
	m, err := p.Exchange(t.Context(), llm.Request{State: conversation("unspeakable")})
	if failed, ok := errors.AsType[*llm.Error](err); m != nil || !ok || failed.Stage != llm.StageRequest || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no request: %v, %v", m, err)
	}
	if m, err := p.Exchange(t.Context(), llm.Request{State: conversation("hi")}); m != nil || !errors.Is(err, llm.ErrTruncated) {
		t.Errorf("truncated: %v, %v", m, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := p.Exchange(ctx, llm.Request{State: conversation("hi")}); m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", m, err)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]llm.Config{
		"model":   {Name: "test", Endpoint: llm.Endpoint{BaseURL: "https://a.invalid"}},
		"address": {Name: "test", Model: "m", Endpoint: llm.Endpoint{BaseURL: "ftp://a.invalid"}},
	} {
		if _, err := exchange.New(exchange.Config{Model: cfg}); !errors.Is(err, llm.ErrConfig) || !strings.Contains(err.Error(), "test") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
