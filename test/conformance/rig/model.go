package rig

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Reply is one scripted answer of the model.
type Reply struct {
	Text      string
	Pieces    []string // instead of Text: one chunk of the stream each
	Reasoning string
	Calls     []Call
	Tokens    uint64          // prompt tokens of the usage; 0: no usage is sent
	Gate      <-chan struct{} // the answer is held back until it is closed
	Rest      <-chan struct{} // after the first piece, the others wait for it
	Hang      bool            // no answer until the client goes
	Status    int             // an HTTP status other than 200
	Body      string          // with Status
}

// Call is a tool call of a Reply; Arguments is the JSON text.
type Call struct{ ID, Name, Arguments string }

// Model is a scripted Chat Completions server.
type Model struct {
	// Answer chooses the answer to the n-th request, counted from 1, with its body.
	Answer func(n int, body string) Reply

	server  *http.Server
	addr    string
	arrived chan int

	mu     sync.Mutex
	bodies []string
}

// NewModel serves script in order, then HTTP 500. l may be nil for a free loopback port.
func NewModel(t testing.TB, l net.Listener, script ...Reply) *Model {
	t.Helper()
	if l == nil {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	m := &Model{addr: l.Addr().String(), arrived: make(chan int, 1<<16)}
	m.Answer = func(n int, _ string) Reply {
		if n > len(script) {
			return Reply{Status: 500, Body: `{"error":{"message":"the script has ended"}}`}
		}
		return script[n-1]
	}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = m.server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = m.server.Close()
		<-served
	})
	return m
}

// URL is the base URL.
func (m *Model) URL() string { return "http://" + m.addr }

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // read whole, so that the client's end is noticed
	if err != nil {
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	n := len(m.bodies)
	m.mu.Unlock()
	reply := m.Answer(n, string(body))
	m.arrived <- n
	gone := r.Context().Done()
	if reply.Hang {
		<-gone
		return
	}
	if !passes(reply.Gate, gone) {
		return
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	reply.stream(w, gone)
}

func passes(gate, gone <-chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-gone:
		return false
	}
}

func (reply *Reply) stream(w http.ResponseWriter, gone <-chan struct{}) {
	pieces := reply.Pieces
	if pieces == nil && reply.Text != "" {
		pieces = []string{reply.Text}
	}
	if reply.Reasoning != "" {
		send(w, choice(map[string]any{"reasoning_content": reply.Reasoning}, nil))
	}
	for i, piece := range pieces {
		if i == 1 && !passes(reply.Rest, gone) {
			return
		}
		send(w, choice(map[string]any{"role": "assistant", "content": piece}, nil))
	}
	finish := "stop"
	for i, c := range reply.Calls {
		finish = "tool_calls"
		send(w, choice(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		}}}, nil))
	}
	send(w, choice(map[string]any{}, finish))
	if reply.Tokens > 0 {
		send(w, map[string]any{"id": "c", "model": "scripted", "choices": []any{}, "usage": map[string]any{
			"prompt_tokens": reply.Tokens, "completion_tokens": 1, "total_tokens": reply.Tokens + 1,
		}})
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func choice(delta map[string]any, finish any) map[string]any {
	return map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": []any{
		map[string]any{"index": 0, "delta": delta, "finish_reason": finish},
	}}
}

func send(w http.ResponseWriter, chunk any) {
	raw, err := json.Marshal(chunk)
	if err != nil {
		panic(err) // a mistake of the test
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
	_ = http.NewResponseController(w).Flush()
}

// Request waits until the n-th request is there.
func (m *Model) Request(t testing.TB, n int) {
	t.Helper()
	ctx := Deadline(t)
	for {
		select {
		case got := <-m.arrived:
			if got >= n {
				return
			}
		case <-ctx.Done():
			t.Fatalf("request %d to the model did not come", n)
		}
	}
}

// Requests gives the bodies of all requests so far.
func (m *Model) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.bodies...)
}

// Last is the body of the newest request, "" before the first.
func (m *Model) Last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.bodies) == 0 {
		return ""
	}
	return m.bodies[len(m.bodies)-1]
}
