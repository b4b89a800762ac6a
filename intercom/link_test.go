package intercom_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/intercom"
)

// BR-034: the proxy between keeps both sockets open and forwards nothing any more. With an
// idle timeout the worker's own pings tell; without one, a Hub that used to ping does.
func TestHalfOpenLinkIsNoticed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cfg     intercom.Config
		hubPing time.Duration
		signs   int // of life that pass in more than twice the limit
	}{
		"own pings":   {intercom.Config{IdleTimeout: time.Second}, 0, 5},
		"hub's pings": {intercom.Config{PeerSilence: time.Second}, 100 * time.Millisecond, 25},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connected, got := make(chan int, 10), make(chan string, 10)
			signs := make(chan struct{}, 1000)
			url := hub(t, func(n int, c *websocket.Conn) {
				connected <- n
				answer := c.PingHandler()
				c.SetPingHandler(func(p string) error { signs <- struct{}{}; return answer(p) })
				c.SetPongHandler(func(string) error { signs <- struct{}{}; return nil })
				stop := make(chan struct{})
				defer close(stop)
				go pingEvery(c, tt.hubPing, stop)
				readAll(c, got)
			})
			p := proxy(t, url.Address())
			url.Port = p.listener.Addr().(*net.TCPAddr).Port
			tt.cfg.URL = url
			tt.cfg.InitialBackoff, tt.cfg.MaxBackoff = time.Millisecond, time.Millisecond
			c := start(t, tt.cfg)
			receive(t, connected)
			send(t, c.Client, "one")
			if m := receive(t, got); m != "one" {
				t.Fatal(m)
			}
			for range tt.signs {
				receive(t, signs)
			}
			if len(connected) > 0 || !c.Connected() {
				t.Fatal("a live link was given up")
			}
			p.freeze()
			receive(t, connected)
			send(t, c.Client, "two")
			if m := receive(t, got); m != "two" {
				t.Fatal(m)
			}
		})
	}
}

func pingEvery(c *websocket.Conn, every time.Duration, stop <-chan struct{}) {
	if every == 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			_ = c.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
		}
	}
}

// Stop ends Run in bounded time whatever the link does: while connecting, upgrading,
// waiting, connected to a peer that never answers the close, or stuck in a write.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	accepted := make(chan struct{}, 10)
	deaf := hub(t, func(_ int, c *websocket.Conn) {
		smallBuffer(t, c)
		accepted <- struct{}{}
		<-release
	})
	dialing := make(chan struct{}, 1)
	tests := map[string]struct {
		cfg  intercom.Config
		when func(t *testing.T, c *running)
	}{
		"connecting": {intercom.Config{URL: deaf, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialing <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}}, func(t *testing.T, _ *running) { receive(t, dialing) }},
		"upgrading": {intercom.Config{URL: parse(t, "ws://"+silent.Addr().String())}, func(t *testing.T, _ *running) {
			c, err := silent.Accept()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}},
		"deaf": {intercom.Config{URL: deaf}, func(t *testing.T, _ *running) { receive(t, accepted) }},
		"stuck in a write": {intercom.Config{URL: deaf}, func(t *testing.T, c *running) {
			receive(t, accepted)
			send(t, c.Client, strings.Repeat("x", 15<<20))
			receive(t, c.Space()) // taken
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := start(t, tt.cfg)
			tt.when(t, c)
			began := time.Now()
			c.Stop()
			if err := c.wait(); err != nil {
				t.Error(err)
			}
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// smallBuffer keeps the kernel from taking in a large message that nobody reads.
func smallBuffer(t *testing.T, c *websocket.Conn) {
	if err := c.NetConn().(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Error(err)
	}
}

// The write queue counts the frame being written, waits for slots, refuses bytes.
func TestWriteQueueAccounting(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	url := hub(t, func(_ int, c *websocket.Conn) {
		smallBuffer(t, c)
		<-release
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				return
			}
		}
	})
	c := start(t, intercom.Config{URL: url, WriteFrames: 2, WriteBytes: 15 << 20})
	big := 15<<20 - 300
	send(t, c.Client, strings.Repeat("x", big)) // more than the sockets buffer
	receive(t, c.Space())
	send(t, c.Client, "a")
	send(t, c.Client, "b")
	if frames, bytes := c.Load(); frames != 2 || bytes != big+2 {
		t.Errorf("%d frames, %d bytes", frames, bytes)
	}
	if err := c.TrySend([]byte("c")); !errors.Is(err, intercom.ErrQueueFull) {
		t.Errorf("third frame: %v", err)
	}
	if err := c.TrySend(make([]byte, 299)); !errors.Is(err, intercom.ErrQueueBytes) {
		t.Errorf("too many bytes: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gave up"))
	if err := c.Send(ctx, []byte("c")); err == nil || !strings.Contains(err.Error(), "gave up") {
		t.Errorf("send: %v", err)
	}
	if err := c.Drain(ctx); err == nil || !strings.Contains(err.Error(), "gave up") {
		t.Errorf("drain: %v", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- c.Send(context.Background(), []byte("c")) }()
	close(release)
	if err := receive(t, sent); err != nil {
		t.Error(err)
	}
	if err := c.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if frames, bytes := c.Load(); frames != 0 || bytes != 0 {
		t.Errorf("%d frames, %d bytes after drain", frames, bytes)
	}
}

// A frame whose write broke off is lost, not sent again; the next one is what comes.
func TestBrokenWriteIsNotRepeated(t *testing.T) {
	t.Parallel()
	cut, got := make(chan struct{}), make(chan string, 10)
	url := hub(t, func(n int, c *websocket.Conn) {
		if n == 0 {
			smallBuffer(t, c)
			<-cut
			return
		}
		readAll(c, got)
	})
	c := start(t, intercom.Config{URL: url, MaxBackoff: time.Millisecond, InitialBackoff: time.Millisecond})
	send(t, c.Client, strings.Repeat("x", 15<<20))
	receive(t, c.Space())
	send(t, c.Client, "next")
	close(cut)
	if m := receive(t, got); m != "next" {
		t.Errorf("%d bytes came: %.10s", len(m), m)
	}
	if err := c.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// A waiting Send is told of the stop, and what waits is discarded.
func TestStopDiscards(t *testing.T) {
	t.Parallel()
	c, err := intercom.NewClient(intercom.Config{URL: parse(t, "ws://h"), Handler: ignore, WriteFrames: 1})
	if err != nil {
		t.Fatal(err)
	}
	send(t, c, "a")
	sent := make(chan error, 1)
	go func() { sent <- c.Send(context.Background(), []byte("b")) }()
	c.Stop()
	c.Stop()
	if err := receive(t, sent); !errors.Is(err, intercom.ErrStopped) {
		t.Errorf("send: %v", err)
	}
	if frames, bytes := c.Load(); frames != 0 || bytes != 0 {
		t.Errorf("%d frames, %d bytes", frames, bytes)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Errorf("run after stop: %v", err)
	}
}
