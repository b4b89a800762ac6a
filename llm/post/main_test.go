package post

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const stream = "data: one\n\ndata: two\n\ndata: [DONE]\n\n"

// idle differs from every other limit, so that a timer of it can be told.
const idle = 90 * time.Second

// lab is a client, a clock that stands still, and a real server.
type lab struct {
	*testing.T
	clock  *llmtest.Clock
	client *Client
	url    string
	calls  atomic.Int32
	conns  atomic.Int32
}

// newLab serves with h, which gets the number of the request, from 1.
func newLab(t *testing.T, change func(*llm.Config), h func(n int, w http.ResponseWriter, r *http.Request)) *lab {
	t.Helper()
	l := &lab{T: t, clock: llmtest.NewClock()}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only when the body is read does the server notice that the client goes.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(int(l.calls.Add(1)), w, r)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			l.conns.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	l.url = server.URL
	cfg := llm.Config{
		Endpoint: llm.Endpoint{BaseURL: server.URL, RequestPath: "/v1/x"},
		Retry:    llm.Retry{MaxAttempts: 3, InitialBackoff: time.Second, MaxBackoff: 10 * time.Second, IdleTimeout: idle},
		Clock:    l.clock,
		Random:   func() uint64 { return uint64(time.Second) }, // the longest first wait
	}
	if change != nil {
		change(&cfg)
	}
	l.client = newClient(t, Config{Model: cfg})
	return l
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// do posts in the background and gives the error when it is over.
func (l *lab) do(ctx context.Context) <-chan error {
	out := make(chan error, 1)
	go func() { out <- l.client.Do(ctx, Body{[]byte(`{"a":`), nil, []byte(`1}`)}, readAll) }()
	return out
}

func (l *lab) result(c <-chan error) error {
	l.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(20 * time.Second):
		l.Fatal("the request does not end")
		return nil
	}
}

// readAll wants the whole of stream.
func readAll(s *Stream) error {
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return &llm.Error{Stage: llm.StageRead, Err: llm.ErrTruncated, Transient: true}
		}
		if err != nil {
			return err
		}
		if string(e.Data) == "[DONE]" {
			return nil
		}
	}
}

func write(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}
