package bench

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/test/conformance/rig"
	"simplex/wire"
)

// simplexBinary is the program: the one SIMPLEX_BENCH_BINARY names, or one built here.
func simplexBinary(b *testing.B) string {
	b.Helper()
	if path := os.Getenv("SIMPLEX_BENCH_BINARY"); path != "" {
		return path
	}
	path := filepath.Join(b.TempDir(), "simplex")
	must(b, rig.Build(path))
	return path
}

// visit is what a Hub saw of one connection of the worker.
type visit struct{ listening, accepted, answered time.Time }

type acceptedKey struct{}

// visitedOnce is a Hub that listens at addr, asks the first worker to come for its status,
// and is gone once that was answered.
func visitedOnce(b *testing.B, addr string) visit {
	b.Helper()
	answered := make(chan visit, 1)
	upgrader := websocket.Upgrader{}
	server := &http.Server{
		ReadHeaderTimeout: rig.Patience,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, acceptedKey{}, time.Now())
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			if tellsStatus(b, c) {
				answered <- visit{accepted: r.Context().Value(acceptedKey{}).(time.Time), answered: time.Now()}
			}
		}),
	}
	l, err := net.Listen("tcp", addr)
	must(b, err)
	listening, served := time.Now(), make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	select {
	case v := <-answered:
		must(b, server.Close())
		<-served
		v.listening = listening
		return v
	case <-time.After(rig.Patience):
		b.Fatal("the worker did not come")
		return visit{}
	}
}

// tellsStatus asks for the status and reads until it comes.
func tellsStatus(b *testing.B, c *websocket.Conn) bool {
	if c.WriteMessage(websocket.TextMessage, []byte(`{"type":"signal","data":{"operation":"status"}}`)) != nil {
		return false
	}
	for {
		_, raw, err := c.ReadMessage()
		if err != nil {
			return false
		}
		e, err := wire.DecodeEvent(raw)
		if err != nil {
			b.Error(err)
			return false
		}
		if e.Name == wire.EventStatus {
			return true
		}
	}
}

// A Hub that was gone listens again: until the worker has told it its status, against a
// bare dial, which is TCP and the upgrade. The worker waits for up to 1 ms between its
// attempts, which the runtime's timers round up; the second figure leaves that wait out.
func BenchmarkReconnect(b *testing.B) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	addr := free.Addr().String()
	must(b, free.Close())
	r := rig.New(b)
	r.Binary, r.Endpoint = simplexBinary(b), "ws://"+addr+"/events"
	r.Transport = "initial_backoff_ms: 1, max_backoff_ms: 1"
	worker := r.Start()
	defer worker.Stop()
	visitedOnce(b, addr)

	url := socketServer(b, func(c *websocket.Conn) { _, _, _ = c.ReadMessage() })
	dial := func() time.Duration {
		began := time.Now()
		c, _, err := websocket.DefaultDialer.Dial(url, nil)
		took := time.Since(began)
		must(b, err)
		must(b, c.Close())
		return took
	}
	var whole, own pairs
	for b.Loop() {
		for range 5 {
			v, bare := visitedOnce(b, addr), dial()
			whole.ours, whole.bare = append(whole.ours, v.answered.Sub(v.listening)), append(whole.bare, bare)
			own.ours, own.bare = append(own.ours, v.answered.Sub(v.accepted)), append(own.bare, bare)
		}
	}
	whole.cost(b, "reconnect and status, from the Hub listening, against a bare dial", 5)
	own.cost(b, "reconnect and status, from the Hub accepting, against a bare dial", 5)
}
