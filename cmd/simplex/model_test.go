package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"simplex/llm/offline"
)

// model is a scripted Chat Completions server that tells of each request and can be held.
// The n-th request gets the n-th answer, whichever is served first.
type model struct {
	*httptest.Server
	answers []*offline.Server
	arrived chan int // the number of each request, from 1

	mu     sync.Mutex
	holds  map[int]chan struct{}
	heads  []string // path and Authorization of each request
	bodies []string
}

func newModel(t testing.TB, script []offline.Reply) *model {
	t.Helper()
	m := &model{arrived: make(chan int, 1000), holds: make(map[int]chan struct{})}
	for _, reply := range append(slices.Clone(script), offline.Reply{Status: 500, Body: "the script has ended"}) {
		server, err := offline.Start(offline.Config{Script: []offline.Reply{reply}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		m.answers = append(m.answers, server)
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // read whole, so that the client's end is noticed
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.mu.Lock()
	m.heads = append(m.heads, r.URL.Path+" "+r.Header.Get("Authorization"))
	m.bodies = append(m.bodies, string(body))
	n := len(m.bodies)
	hold := m.holds[n]
	m.mu.Unlock()
	m.arrived <- n
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	m.answers[min(n, len(m.answers))-1].ServeHTTP(w, r)
}

// hold keeps the answer to the n-th request back until release is called.
func (m *model) hold(n int) (release func()) {
	ch := make(chan struct{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds[n] = ch
	return sync.OnceFunc(func() { close(ch) })
}

// request waits until the n-th request is there.
func (m *model) request(t testing.TB, n int) {
	t.Helper()
	ctx := deadline(t)
	for {
		select {
		case got := <-m.arrived:
			if got == n {
				return
			}
		case <-ctx.Done():
			t.Fatalf("request %d to the model did not come", n)
		}
	}
}

// head is path and Authorization of the n-th request, "" before it came.
func (m *model) head(n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > len(m.heads) {
		return ""
	}
	return m.heads[n-1]
}

// requests counts the requests so far.
func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.bodies)
}

// last is the body of the newest request, "" before the first.
func (m *model) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.bodies) == 0 {
		return ""
	}
	return m.bodies[len(m.bodies)-1]
}
