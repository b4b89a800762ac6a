package intercom_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/intercom"
)

// What was queued before the first connection is sent on it, and what arrives is handed
// over in order.
func TestClientEcho(t *testing.T) {
	t.Parallel()
	url := hub(t, func(_ int, c *websocket.Conn) {
		for {
			kind, message, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, message) != nil {
				return
			}
		}
	})
	got := make(chan string, 100)
	c := start(t, intercom.Config{URL: url, Handler: func(m []byte) error { got <- string(m); return nil }})
	for i := range 50 {
		send(t, c.Client, fmt.Sprint(i, strings.Repeat("x", i*1000)))
	}
	for i := range 50 {
		if m := receive(t, got); m != fmt.Sprint(i, strings.Repeat("x", i*1000)) {
			t.Fatalf("message %d is %.20s", i, m)
		}
	}
	if err := c.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if frames, bytes := c.Load(); frames != 0 || bytes != 0 {
		t.Errorf("%d frames, %d bytes left", frames, bytes)
	}
	if !c.Connected() {
		t.Error("not connected")
	}
	c.Stop()
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	if c.Connected() {
		t.Error("still connected")
	}
	if err := c.Run(t.Context()); !errors.Is(err, intercom.ErrUsed) {
		t.Errorf("second run: %v", err)
	}
	if err := c.TrySend([]byte("x")); !errors.Is(err, intercom.ErrStopped) {
		t.Errorf("send after stop: %v", err)
	}
	if err := c.Drain(t.Context()); !errors.Is(err, intercom.ErrStopped) {
		t.Errorf("drain after stop: %v", err)
	}
}

// BR-036: frames queued while the link is down arrive once and in order; those that were
// taken off the queue are never sent a second time.
func TestQueuedFramesSurviveReconnects(t *testing.T) {
	t.Parallel()
	got := make(chan string, 100)
	gate := make(chan struct{})
	url := hub(t, func(n int, c *websocket.Conn) {
		if n == 0 {
			_, m, _ := c.ReadMessage()
			got <- string(m)
			return // cuts the link without a close handshake
		}
		readAll(c, got)
	})
	sleep := func(ctx context.Context, _ time.Duration) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	down := make(chan struct{}, 1)
	c := start(t, intercom.Config{URL: url, Sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case down <- struct{}{}:
		default:
		}
		return sleep(ctx, d)
	}})
	send(t, c.Client, "first")
	if m := receive(t, got); m != "first" {
		t.Fatal(m)
	}
	receive(t, down)
	for i := range 30 {
		send(t, c.Client, fmt.Sprint(i))
	}
	if frames, _ := c.Load(); frames != 30 {
		t.Errorf("%d frames are queued while the link is down", frames)
	}
	close(gate)
	for i := range 30 {
		if m := receive(t, got); m != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, m)
		}
	}
	if err := c.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-got:
		t.Errorf("%q came twice", m)
	default:
	}
}

// The waits double up to the maximum; only a connection that lasted 30 s starts them over,
// an accept that is closed at once does not.
func TestBackoff(t *testing.T) {
	t.Parallel()
	w := newWaits()
	var mu sync.Mutex
	now, long := time.Unix(0, 0), false
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if long {
			now = now.Add(30 * time.Second)
		}
		return now
	}
	url := hub(t, func(n int, _ *websocket.Conn) {
		mu.Lock()
		defer mu.Unlock()
		long = long || n >= 8 // from the ninth on, 30 s pass per look at the clock
	})
	start(t, intercom.Config{URL: url, Sleep: w.sleep, Random: full, Now: func() time.Time {
		return clock()
	}})
	want := []time.Duration{250, 500, 1000, 2000, 4000, 8000, 10000, 10000}
	for i, ms := range want {
		if d := receive(t, w.seen); d != ms*time.Millisecond {
			t.Fatalf("wait %d is %v, want %v", i, d, ms*time.Millisecond)
		}
	}
	deadline := time.After(patience)
	for { // the clock advances at the latest two connections later
		select {
		case d := <-w.seen:
			if d == 250*time.Millisecond {
				return
			}
		case <-deadline:
			t.Fatal("the backoff never started over")
		}
	}
}

// Every failure to connect is tried again, and no log line has the token in it.
func TestConnectFailuresAreRetried(t *testing.T) {
	t.Parallel()
	refuse := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		return "ws" + strings.TrimPrefix(s.URL, "http")
	}
	secure := tlsHub(t, func(int, *websocket.Conn) {})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	junk, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := junk.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-nothing of yours\r\n\r\n"))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = junk.Close() })
	tests := map[string]struct{ url, want string }{
		"401":         {refuse(http.StatusUnauthorized), "upgrade refused: 401"},
		"403":         {refuse(http.StatusForbidden), "upgrade refused: 403"},
		"404":         {refuse(http.StatusNotFound), "upgrade refused: 404"},
		"200":         {refuse(http.StatusOK), "upgrade refused: 200"},
		"dns":         {"ws://unconfigured.invalid:1", "connect: "},
		"refused":     {"ws://" + closed.Addr().String(), "connect: "},
		"no http":     {"ws://" + junk.Addr().String(), "upgrade: "},
		"certificate": {"ws" + strings.TrimPrefix(secure.URL, "http"), "tls: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, log := newWaits(), &logged{}
			c := start(t, intercom.Config{URL: parse(t, tt.url+"/x?token=secret"), Sleep: w.sleep, Logger: log.logger()})
			for range 3 {
				receive(t, w.seen)
			}
			c.Stop()
			if err := c.wait(); err != nil {
				t.Error(err)
			}
			if text := log.String(); !strings.Contains(text, tt.want) || strings.Contains(text, "secret") {
				t.Errorf("log:\n%s\nwant %q", text, tt.want)
			}
		})
	}
}

func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := tlsHub(t, func(_ int, c *websocket.Conn) { readAll(c, got) })
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	url := parse(t, "ws"+strings.TrimPrefix(server.URL, "http"))
	c := start(t, intercom.Config{URL: url, TLS: &tls.Config{RootCAs: roots}})
	send(t, c.Client, "over TLS")
	if m := receive(t, got); m != "over TLS" {
		t.Error(m)
	}
	// The same server under a name that its certificate does not have.
	other := url
	other.Host = "localhost"
	w := newWaits()
	log := &logged{}
	start(t, intercom.Config{URL: other, TLS: &tls.Config{RootCAs: roots}, Sleep: w.sleep, Logger: log.logger()})
	receive(t, w.seen)
	if !strings.Contains(log.String(), "localhost") {
		t.Errorf("log: %s", log)
	}
}

// A binary message or a failed handler ends Run for good and tells the peer why.
func TestFatal(t *testing.T) {
	t.Parallel()
	junk := errors.New("junk")
	tests := map[string]struct {
		kind int
		want error
		code int
	}{
		"binary":  {websocket.BinaryMessage, intercom.ErrBinary, websocket.CloseUnsupportedData},
		"handler": {websocket.TextMessage, junk, websocket.ClosePolicyViolation},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := make(chan int, 10)
			url := hub(t, func(_ int, c *websocket.Conn) {
				_ = c.WriteMessage(tt.kind, []byte("junk"))
				_, _, err := c.ReadMessage()
				if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
					code <- closed.Code
				}
			})
			c := start(t, intercom.Config{URL: url, Handler: func([]byte) error { return junk }})
			err := c.wait()
			if _, ok := errors.AsType[*intercom.FatalError](err); !ok || !errors.Is(err, tt.want) {
				t.Errorf("run: %v", err)
			}
			if got := receive(t, code); got != tt.code {
				t.Errorf("close code %d, want %d", got, tt.code)
			}
		})
	}
}

// BR-035: a message over the cap is answered by 1009 and a log line, the connection is made
// again, and what this end had sent is not sent twice.
func TestInboundCap(t *testing.T) {
	t.Parallel()
	codes, got := make(chan int, 1), make(chan string, 10)
	url := hub(t, func(n int, c *websocket.Conn) {
		if n > 0 {
			readAll(c, got)
			return
		}
		_, m, _ := c.ReadMessage()
		got <- string(m)
		_ = c.WriteMessage(websocket.TextMessage, make([]byte, 5000))
		_, _, err := c.ReadMessage()
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			codes <- closed.Code
		}
	})
	log := &logged{}
	w := newWaits()
	c := start(t, intercom.Config{URL: url, MaxInbound: 4096, Logger: log.logger(), Sleep: w.sleep, Handler: func([]byte) error {
		return errors.New("a message over the cap was handed over")
	}})
	send(t, c.Client, "one")
	if m := receive(t, got); m != "one" {
		t.Fatal(m)
	}
	if code := receive(t, codes); code != websocket.CloseMessageTooBig {
		t.Errorf("close code %d", code)
	}
	receive(t, w.seen)
	send(t, c.Client, "two")
	if m := receive(t, got); m != "two" {
		t.Errorf("%q was sent after the reconnect", m)
	}
	if !strings.Contains(log.String(), "too large") || !strings.Contains(log.String(), "4096") {
		t.Errorf("log: %s", log)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := intercom.Config{URL: parse(t, "ws://h"), Handler: ignore}
	for name, change := range map[string]func(*intercom.Config){
		"host":     func(c *intercom.Config) { c.URL.Host = "" },
		"port":     func(c *intercom.Config) { c.URL.Port = 0 },
		"handler":  func(c *intercom.Config) { c.Handler = nil },
		"frames":   func(c *intercom.Config) { c.WriteFrames = -1 },
		"bytes":    func(c *intercom.Config) { c.WriteBytes = -1 },
		"inbound":  func(c *intercom.Config) { c.MaxInbound = -1 },
		"backoff":  func(c *intercom.Config) { c.InitialBackoff = 11 * time.Second },
		"idle":     func(c *intercom.Config) { c.IdleTimeout = -1 },
		"negative": func(c *intercom.Config) { c.InitialBackoff = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := intercom.NewClient(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := intercom.NewClient(good); err != nil {
		t.Error(err)
	}
}

// An operator who reads the log at its usual level sees that a failed connection is back,
// and that there is one at all.
func TestConnectionsAreLogged(t *testing.T) {
	t.Parallel()
	back := make(chan struct{})
	url := hub(t, func(n int, c *websocket.Conn) {
		if n == 0 {
			return
		}
		_ = c.WriteMessage(websocket.TextMessage, []byte("{}"))
		_, _, _ = c.ReadMessage()
	})
	var log logged
	info := slog.New(slog.NewTextHandler(&log, nil))
	c := start(t, intercom.Config{URL: url, Logger: info, Sleep: func(context.Context, time.Duration) error { return nil }, Handler: func([]byte) error {
		close(back)
		return nil
	}})
	<-back
	c.Stop()
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	said := log.String()
	lost := strings.Index(said, "hub connection failed")
	if strings.Count(said, "hub connected") != 2 || lost < strings.Index(said, "hub connected") || lost > strings.LastIndex(said, "hub connected") {
		t.Error(said)
	}
}
