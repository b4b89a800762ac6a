package intercom_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/intercom"
)

// frame is a payload envelope of about n bytes.
func frame(n int) []byte {
	const format = `{"type":"payload","data":{"operation":"message","request_id":"1c0ffee","content":[{"type":"text","modality":"text","raw":"%s"}]}}`
	return fmt.Appendf(nil, format, strings.Repeat("x", n-len(format)+2))
}

// flood is a hub that writes b.N frames once the client said to go.
func flood(b *testing.B, message []byte) func(int, *websocket.Conn) {
	return func(_ int, c *websocket.Conn) {
		if _, _, err := c.ReadMessage(); err != nil {
			return
		}
		for range b.N {
			if c.WriteMessage(websocket.TextMessage, message) != nil {
				return
			}
		}
		_, _, _ = c.ReadMessage()
	}
}

// Inbound: 1 KiB frames, received, decoded, routed and taken out of the queue. Compare with
// InboundBare, which reads the same frames by gorilla alone.
func BenchmarkInbound(b *testing.B) {
	message := frame(1024)
	url := hub(b, flood(b, message))
	router := intercom.NewRouter(intercom.RouterConfig{Payloads: 1 << 16})
	done := make(chan struct{})
	n := 0
	c := start(b, intercom.Config{URL: url, Handler: func(m []byte) error {
		err := router.Handle(m)
		_, _ = router.NextPayload(context.Background())
		if n++; n == b.N {
			close(done)
		}
		return err
	}})
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	send(b, c.Client, "go")
	<-done
}

func BenchmarkInboundBare(b *testing.B) {
	message := frame(1024)
	url := hub(b, flood(b, message))
	c, _, err := (&websocket.Dialer{ReadBufferSize: 16 << 10}).Dial(url.String(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.WriteMessage(websocket.TextMessage, []byte("go")); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		if _, _, err := c.ReadMessage(); err != nil {
			b.Fatal(err)
		}
	}
}

func echo(_ int, c *websocket.Conn) {
	for {
		kind, m, err := c.ReadMessage()
		if err != nil || c.WriteMessage(kind, m) != nil {
			return
		}
	}
}

// Echo: one 1 KiB frame there and back at a time.
func BenchmarkEcho(b *testing.B) {
	message := frame(1024)
	got := make(chan struct{}, 1)
	c := start(b, intercom.Config{URL: hub(b, echo), Handler: func([]byte) error { got <- struct{}{}; return nil }})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(ctx, message); err != nil {
			b.Fatal(err)
		}
		<-got
	}
}

func BenchmarkEchoBare(b *testing.B) {
	message := frame(1024)
	url := hub(b, echo)
	c, _, err := websocket.DefaultDialer.Dial(url.String(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.WriteMessage(websocket.TextMessage, message); err != nil {
			b.Fatal(err)
		}
		if _, _, err := c.ReadMessage(); err != nil {
			b.Fatal(err)
		}
	}
}

// Route alone: what decoding and sorting a frame costs.
func BenchmarkRoute(b *testing.B) {
	message := frame(1024)
	router := intercom.NewRouter(intercom.RouterConfig{})
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if err := router.Handle(message); err != nil {
			b.Fatal(err)
		}
		_, _ = router.NextPayload(context.Background())
	}
}
