package post

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"simplex/llm"
	"simplex/llm/llmtest"
)

func TestWhichStatusIsRetried(t *testing.T) {
	t.Parallel()
	for status, again := range map[int]bool{
		400: false, 401: false, 403: false, 404: false, 408: true, 409: false, 413: false, 422: false, 429: true,
		500: true, 502: true, 503: true, 529: true, 201: false, 304: false,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); string(body) != `{"a":1}` {
					t.Errorf("try %d sent %s", n, body)
				}
				if n == 1 {
					w.WriteHeader(status)
					if status != 304 {
						write(w, `{"error":{"message":"no luck","code":"c7"}}`)
					}
					return
				}
				write(w, stream)
			})
			done := l.do(t.Context())
			if again {
				l.clock.Await(t, time.Second)
				l.clock.Advance(time.Second)
			}
			err := l.result(done)
			if again != (err == nil) {
				t.Fatal(err)
			}
			failed, _ := errors.AsType[*llm.Error](err)
			if !again && (failed.Status != status || failed.Stage != llm.StageRejected || status != 304 && failed.Code != "c7") {
				t.Errorf("%#v", failed)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const backoff, most = time.Second, 10 * time.Second
	date := llmtest.NewClock().Now().Add(3 * time.Second).Format(http.TimeFormat)
	for _, test := range []struct {
		status int
		header string
		want   time.Duration
	}{
		{429, "2", 2 * time.Second},
		{429, date, 3 * time.Second},
		{503, "4", 4 * time.Second},
		{429, "86400", most},
		{429, "99999999999999", backoff},
		{429, "0", backoff},
		{429, "-5", backoff},
		{429, "soon", backoff},
		{429, "Mon, 02 Jan 2006 15:04:05 GMT", backoff},
		{500, "2", backoff}, // the header counts for 429 and 503 only
	} {
		t.Run(fmt.Sprint(test.status, test.header), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					w.Header().Set("Retry-After", test.header)
					w.WriteHeader(test.status)
					return
				}
				write(w, stream)
			})
			done := l.do(t.Context())
			l.clock.Await(t, test.want)
			l.clock.Advance(test.want - 1)
			if l.calls.Load() != 1 {
				t.Error("did not wait")
			}
			l.clock.Advance(1)
			if err := l.result(done); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBackoffDoublesWithJitterUpToTheCap(t *testing.T) {
	t.Parallel()
	c := &Client{retry: llm.Retry{InitialBackoff: 500 * time.Millisecond, MaxBackoff: 3 * time.Second}}
	for try, limit := range []time.Duration{500, 1000, 2000, 3000, 3000, 3000} {
		limit *= time.Millisecond
		c.random = func() uint64 { return uint64(limit) }
		if got := c.delay(try, 0); got != limit {
			t.Errorf("try %d: the longest wait is %v, want %v", try, got, limit)
		}
		c.random = func() uint64 { return uint64(limit) + 1 }
		if got := c.delay(try, 0); got != 0 {
			t.Errorf("try %d: the shortest wait is %v", try, got)
		}
	}
	c.retry.MaxBackoff = 1<<63 - 1
	c.random = func() uint64 { return 1 }
	if got := c.delay(1000, 0); got < 0 {
		t.Errorf("overflow: %v", got)
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(c *llm.Config) { c.Retry.MaxAttempts = 1 }, func(_ int, w http.ResponseWriter, _ *http.Request) {
		write(w, "data: one\n\n") // and a clean end: truncated
	})
	done := l.do(t.Context())
	l.clock.Await(t, time.Second)
	l.clock.Advance(time.Second)
	failed, ok := errors.AsType[*llm.Error](l.result(done))
	if !ok || !errors.Is(failed, llm.ErrTruncated) || failed.Tries != 2 || l.calls.Load() != 2 {
		t.Errorf("%v after %d calls", failed, l.calls.Load())
	}
}

func TestConnectFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		again bool
	}{
		"refused":        {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"reset":          {&net.OpError{Op: "dial", Err: syscall.ECONNRESET}, true},
		"timeout":        {&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, true},
		"cut off":        {io.ErrUnexpectedEOF, true},
		"name try again": {&net.DNSError{Err: "server misbehaving", IsTemporary: true}, true},
		"name timeout":   {&net.DNSError{Err: "i/o timeout", IsTimeout: true}, true},
		"no such host":   {&net.DNSError{Err: "no such host", IsNotFound: true}, false},
		"unknown":        {errors.New("strange"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, dials := llmtest.NewClock(), 0
			c := newClient(t, Config{
				Model: llm.Config{
					Endpoint: llm.Endpoint{BaseURL: "http://h"}, Clock: clock, Random: func() uint64 { return uint64(500 * time.Millisecond) },
					Retry: llm.Retry{MaxAttempts: 1},
				},
				Dial: func(context.Context, string, string) (net.Conn, error) { dials++; return nil, test.err },
			})
			l := &lab{T: t, client: c}
			done := l.do(t.Context())
			want := 1
			if test.again {
				clock.Await(t, 500*time.Millisecond)
				clock.Advance(500 * time.Millisecond)
				want = 2
			}
			failed, ok := errors.AsType[*llm.Error](l.result(done))
			if !ok || failed.Stage != llm.StageConnect || dials != want {
				t.Errorf("%v after %d dials, want %d", failed, dials, want)
			}
		})
	}
}

func TestBadCertificateIsFinal(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	c := newClient(t, Config{Model: llm.Config{Endpoint: llm.Endpoint{BaseURL: server.URL}, Retry: llm.Retry{MaxAttempts: 3}}})
	err := c.Do(t.Context(), Body{[]byte("{}")}, readAll)
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || failed.Tries != 1 || failed.Stage != llm.StageConnect {
		t.Error(err)
	}
}

// TestBrokenConnections cuts the connection at different places; all are worth a retry.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"before the headers": "",
		"in the headers":     "HTTP/1.1 200 O",
		"no HTTP at all":     "hello\r\n\r\n",
		"in the stream":      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\ndata: one\n\nda",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
				if n > 1 {
					write(w, stream)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(conn, before)
				_ = conn.Close()
			})
			done := l.do(t.Context())
			l.clock.Await(t, time.Second)
			l.clock.Advance(time.Second)
			if err := l.result(done); err != nil || l.calls.Load() != 2 {
				t.Errorf("%v after %d calls", err, l.calls.Load())
			}
		})
	}
}
