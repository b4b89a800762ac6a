package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simplex/llm"
	"simplex/llm/llmtest"
)

func TestSilenceEndsATry(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"before the headers": "", "in the stream": "data: one\n\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := make(chan struct{})
			l := newLab(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
				if n > 1 {
					write(w, stream)
					return
				}
				if first != "" {
					write(w, first)
				}
				close(served)
				<-r.Context().Done()
			})
			done := l.do(t.Context())
			<-served // a request that ends before it arrives would not be the first one
			l.clock.Await(t, idle)
			l.clock.Advance(2 * idle)
			l.clock.Await(t, time.Second) // the backoff
			l.clock.Advance(time.Second)
			if err := l.result(done); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestIdleTimeoutIsNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(c *llm.Config) { c.Retry.MaxAttempts = 0 }, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	done := l.do(t.Context())
	l.clock.Await(t, idle)
	l.clock.Advance(idle)
	if err := l.result(done); !errors.Is(err, llm.ErrIdleTimeout) {
		t.Error(err)
	}
}

// TestSlowButAlive sends a byte each 80 s, with an idle timeout of 90 s.
func TestSlowButAlive(t *testing.T) {
	t.Parallel()
	step := make(chan struct{})
	l := newLab(t, nil, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for _, b := range stream {
			<-step
			write(w, string(b))
		}
	})
	seen := make(chan int, 1)
	done := make(chan error, 1)
	go func() {
		done <- l.client.Do(t.Context(), Body{[]byte("{}")}, func(s *Stream) error {
			n := 0
			defer func() { seen <- n }()
			for {
				e, err := s.Next()
				if err != nil {
					return err
				}
				if n++; string(e.Data) == "[DONE]" {
					return nil
				}
			}
		})
	}()
	for i := range stream {
		before := l.clock.Now()
		step <- struct{}{}
		if i == len(stream)-1 {
			break // the answer is complete: nothing waits any longer
		}
		awaitTouch(t, l.clock, before)
		l.clock.Advance(80 * time.Second)
	}
	if err := l.result(done); err != nil || <-seen != 3 || l.calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, l.calls.Load())
	}
}

// awaitTouch waits for the deadline to be moved behind the present time.
func awaitTouch(t *testing.T, clock *llmtest.Clock, now time.Time) {
	t.Helper()
	for start := time.Now(); !clock.ArmedAt(now); {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the byte did not move the deadline")
		}
	}
}

func TestCancelInEachState(t *testing.T) {
	t.Parallel()
	hang := func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := map[string]struct {
		handle  func(int, http.ResponseWriter, *http.Request)
		dial    func(reached chan<- struct{}) func(context.Context, string, string) (net.Conn, error)
		reached time.Duration // a timer that tells that the state is reached
	}{
		"connecting": {handle: hang, dial: func(reached chan<- struct{}) func(context.Context, string, string) (net.Conn, error) {
			return func(ctx context.Context, _, _ string) (net.Conn, error) {
				close(reached)
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}},
		"before the headers": {handle: hang, reached: idle},
		"in the stream": {reached: idle, handle: func(_ int, w http.ResponseWriter, r *http.Request) {
			write(w, "data: one\n\n")
			<-r.Context().Done()
		}},
		"in a refusal": {reached: idle, handle: func(_ int, w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			write(w, "wait")
			<-r.Context().Done()
		}},
		"in the backoff": {reached: time.Second, handle: func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, test.handle)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reached := make(chan struct{})
			if test.dial != nil {
				l.client = newClient(t, Config{Model: llm.Config{Endpoint: llm.Endpoint{BaseURL: "http://h"}}, Dial: test.dial(reached)})
			}
			done := l.do(ctx)
			if test.dial != nil {
				<-reached
			} else {
				l.clock.Await(t, test.reached)
			}
			start := time.Now()
			cancel()
			err := l.result(done)
			if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "operation aborted") {
				t.Error(err)
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
	t.Run("before the start", func(t *testing.T) {
		t.Parallel()
		l := newLab(t, nil, hang)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.result(l.do(ctx)); !errors.Is(err, context.Canceled) || l.calls.Load() != 0 {
			t.Error(err)
		}
	})
}

// TestSettledAnswerDoesNotWait: once the reader says that all is there, a server that
// never closes is not waited for.
func TestSettledAnswerDoesNotWait(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, func(_ int, w http.ResponseWriter, r *http.Request) {
		write(w, "data: all\n\n")
		<-r.Context().Done()
	})
	done := make(chan error, 1)
	go func() {
		done <- l.client.Do(t.Context(), Body{[]byte("{}")}, func(s *Stream) error {
			if _, err := s.Next(); err != nil {
				return err
			}
			s.Settle(5 * time.Second)
			if _, err := s.Next(); err == nil {
				return errors.New("another event")
			}
			return nil
		})
	}()
	l.clock.Await(t, 5*time.Second)
	l.clock.Advance(5 * time.Second)
	if err := l.result(done); err != nil {
		t.Error(err)
	}
}

func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, func(_ int, w http.ResponseWriter, _ *http.Request) { write(w, stream) })
	for range 10 {
		if err := l.result(l.do(t.Context())); err != nil {
			t.Fatal(err)
		}
		l.client.drains.Wait()
	}
	if n := l.conns.Load(); n != 1 {
		t.Errorf("%d connections for 10 requests", n)
	}
}

func TestSecretsStayIn(t *testing.T) {
	t.Parallel()
	const key, team = `sk-"very"/secret`, "team-token-12345"
	for name, body := range map[string]string{
		"json":     `{"error":{"message":"bad key sk-\"very\"/secret","code":"sk-\"very\"/secret"}}`,
		"text":     "bad key " + key + " and " + team,
		"far away": strings.Repeat("x", 2048-len(key)/2-1) + key + team,
		"too far":  strings.Repeat("é", 4090) + key,
		"at cut":   strings.Repeat("y", 4096) + key,
		"no utf-8": "\xff\xfe" + key,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, func(c *llm.Config) {
				c.Endpoint.Auth.APIKey = key
				c.Endpoint.ExtraHeaders = map[string]string{"X-Team": team}
			}, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(401)
				write(w, body)
			})
			err := l.result(l.do(t.Context()))
			failed, ok := errors.AsType[*llm.Error](err)
			if !ok || len(failed.Message) > 2048 {
				t.Fatalf("%v", err)
			}
			if text := fmt.Sprintf("%v %+v", err, failed); strings.Contains(text, "sk-") || strings.Contains(text, team) {
				t.Errorf("leaked: %s", text)
			}
			if !strings.HasPrefix(err.Error(), "SSE request rejected: HTTP 401 Unauthorized to POST "+l.url+"/v1/…") {
				t.Error(err)
			}
		})
	}
}

func TestErrorObjects(t *testing.T) {
	t.Parallel()
	s := &Stream{secrets: secrets{"topsecret"}}
	for raw, want := range map[string]llm.Error{
		`{"message":"quota exceeded","code":429}`:         {Message: "quota exceeded", Code: "429", Status: 429, Transient: true},
		`{"message":"busy","code":"503"}`:                 {Message: "busy", Code: "503", Status: 503, Transient: true},
		`{"message":"busy","status":500,"code":"x"}`:      {Message: "busy", Code: "x", Status: 500, Transient: true},
		`{"message":"no","code":"invalid_request_error"}`: {Message: "no", Code: "invalid_request_error"},
		`{"message":"your key topsecret","code":400}`:     {Message: "your key [redacted]", Code: "400", Status: 400},
		`{"detail":"odd"}`:                                {Message: `{"detail":"odd"}`},
		`"just words"`:                                    {Message: "just words"},
		`{"message":["a","b"]}`:                           {Message: "a, b"},
	} {
		got, ok := errors.AsType[*llm.Error](s.ProviderError([]byte(raw)))
		if !ok || got.Message != want.Message || got.Code != want.Code || got.Status != want.Status || got.Transient != want.Transient {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// TestLargeBodiesAreSentWhole sends segments instead of a copy, twice, and has a server that
// answers before it has read them.
func TestLargeBodiesAreSentWhole(t *testing.T) {
	t.Parallel()
	body := Body{[]byte("["), bytes.Repeat([]byte("7,"), 1<<20), nil, []byte("7]")}
	want := bytes.Join(body, nil)
	l := newLab(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
		if got, _ := io.ReadAll(r.Body); !bytes.Equal(got, want) {
			t.Errorf("try %d: %d bytes arrived", n, len(got))
		}
		if n == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		write(w, stream)
	})
	done := make(chan error, 1)
	go func() { done <- l.client.Do(t.Context(), body, readAll) }()
	l.clock.Await(t, time.Second)
	l.clock.Advance(time.Second)
	if err := l.result(done); err != nil {
		t.Error(err)
	}
	early := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }))
	defer early.Close()
	c := newClient(t, Config{Model: llm.Config{Endpoint: llm.Endpoint{BaseURL: early.URL}}})
	err := c.Do(t.Context(), body, readAll)
	clear(body[1]) // ours again: the race detector tells if someone still reads it
	if err == nil {
		t.Error("the refusal was lost")
	}
}
