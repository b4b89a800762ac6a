package offline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// limits of the server.
const (
	keptRequests = 50
	maxBody      = 256 << 20
	headerLimit  = 10 * time.Second
)

// Config describes a Server. The zero value plays auto on a free loopback port.
type Config struct {
	Scenario string        // "": auto
	Script   []Reply       // answers in order instead of a scenario; then HTTP 500
	Command  string        // of the scenario auto; "": DefaultCommand
	Slow     time.Duration // of the scenarios slow, keep-alive (a tenth) and drip; 0: DefaultSlow
	Listen   string        // "": 127.0.0.1:0
}

// Server answers POST with an event stream: of Responses on paths that end in
// /responses, of Chat Completions on any other.
type Server struct {
	cfg      Config
	listener net.Listener
	http     *http.Server
	ended    sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	count    int
	requests [][]byte
}

// Start listens and serves until Close.
func Start(cfg Config) (*Server, error) {
	if err := CheckScenario(cfg.Scenario); err != nil {
		return nil, err
	}
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if cfg.Command == "" {
		cfg.Command = DefaultCommand
	}
	if cfg.Slow == 0 {
		cfg.Slow = DefaultSlow
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("offline provider: %w", err)
	}
	s := &Server{cfg: cfg, listener: listener}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: headerLimit}
	s.ended.Go(func() { _ = s.http.Serve(listener) })
	return s, nil
}

// URL is the base URL, without a path.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Requests gives the bodies of the newest requests, at most 50, oldest first.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Close ends all answers, waits for them and frees the port.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.http.Close() // ends the context of each request, too
	s.ended.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.ended.Done()
	if r.Method != http.MethodPost {
		http.Error(w, `{"error":"POST only"}`, http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client has gone, or sends too much
	}
	n, tries := s.keep(body)
	req, err := readRequest(r.URL.Path, body)
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"the body is no valid request","type":"invalid_request_error"}}`)
		return
	}
	req.tries = tries
	s.send(r.Context(), w, outgoing{s.reply(n, req), req, n})
}

// enter counts a request in, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.ended.Add(1)
	return true
}

// keep remembers a body and gives the number of the request, from 0, and how often the
// same body is among the kept ones.
func (s *Server) keep(body []byte) (n, tries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, earlier := range s.requests {
		if bytes.Equal(earlier, body) {
			tries++
		}
	}
	if len(s.requests) == keptRequests {
		s.requests = slices.Delete(s.requests, 0, 1)
	}
	s.requests = append(s.requests, body)
	s.count++
	return s.count - 1, tries
}

func (s *Server) reply(n int, r *request) Reply {
	if s.cfg.Script == nil {
		return s.play(r)
	}
	if n < len(s.cfg.Script) {
		return s.cfg.Script[n]
	}
	return Reply{Status: http.StatusInternalServerError, Body: `{"error":{"message":"the script has ended"}}`}
}

// wait tells whether d passed before the client went.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
