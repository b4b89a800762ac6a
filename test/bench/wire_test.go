package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/intercom"
	"simplex/wire"
)

// kibibyte is a payload envelope of 1 KiB.
func kibibyte() []byte {
	const format = `{"type":"payload","data":{"operation":"message","request_id":"1c0ffee","content":[{"type":"text","modality":"text","raw":"%s"}]}}`
	return fmt.Appendf(nil, format, strings.Repeat("x", 1024-len(format)+2))
}

// socketServer accepts WebSockets on loopback; serve has each until it returns.
func socketServer(b *testing.B, serve func(*websocket.Conn)) (url string) {
	b.Helper()
	upgrader := websocket.Upgrader{ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		serve(c)
	}))
	b.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// online runs a client of the event connection until the benchmark ends.
func online(b *testing.B, url string, handler func([]byte) error) *intercom.Client {
	b.Helper()
	u, err := wire.ParseURL(url)
	must(b, err)
	c, err := intercom.NewClient(intercom.Config{URL: u, Handler: handler})
	must(b, err)
	done := make(chan error, 1)
	go func() { done <- c.Run(context.Background()) }()
	b.Cleanup(func() {
		c.Stop()
		must(b, <-done)
	})
	return c
}

// bareSocket is a connection of gorilla alone, with buffers of the same size.
func bareSocket(b *testing.B, url string) *websocket.Conn {
	b.Helper()
	c, _, err := (&websocket.Dialer{ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}).Dial(url, nil)
	must(b, err)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// Frames of 1 KiB in: received, decoded, routed and taken out of the queue, against
// gorilla that only receives them.
func BenchmarkFramesIn(b *testing.B) {
	message, n := kibibyte(), volume(64<<10)
	url := socketServer(b, func(c *websocket.Conn) {
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				return
			}
			for range n {
				if c.WriteMessage(websocket.TextMessage, message) != nil {
					return
				}
			}
		}
	})
	router := intercom.NewRouter(intercom.RouterConfig{})
	done, count := make(chan struct{}), 0
	client := online(b, url, func(m []byte) error {
		err := router.Handle(m)
		if f, _ := router.NextPayload(context.Background()); f.Op() != wire.OpMessage {
			b.Errorf("operation %s", f.Operation)
		}
		if count++; count%n == 0 {
			done <- struct{}{}
		}
		return err
	})
	bare := bareSocket(b, url)
	b.SetBytes(int64(2 * n * len(message)))
	race(b, func() {
		must(b, client.Send(context.Background(), []byte("go")))
		<-done
	}, func() {
		must(b, bare.WriteMessage(websocket.TextMessage, []byte("go")))
		for range n {
			_, _, err := bare.ReadMessage()
			must(b, err)
		}
	}).speed(b, fmt.Sprintf("%d frames of 1 KiB in, decoded and routed, against gorilla", n), 0.2)
}

// Frames of 1 KiB there and back, one at a time.
func BenchmarkFrameEcho(b *testing.B) {
	message, n := kibibyte(), volume(16<<10)
	url := echoHub(b)
	router := intercom.NewRouter(intercom.RouterConfig{})
	got := make(chan struct{}, 1)
	client := online(b, url, func(m []byte) error {
		err := router.Handle(m)
		_, _ = router.NextPayload(context.Background())
		got <- struct{}{}
		return err
	})
	bare := bareSocket(b, url)
	race(b, func() {
		for range n {
			must(b, client.Send(context.Background(), message))
			<-got
		}
	}, func() {
		for range n {
			must(b, bare.WriteMessage(websocket.TextMessage, message))
			_, _, err := bare.ReadMessage()
			must(b, err)
		}
	}).cost(b, fmt.Sprintf("%d echoes of 1 KiB, decoded and routed, against gorilla", n), 2)
}
