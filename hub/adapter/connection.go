package adapter

import (
	"context"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"simplex/wire"
)

// closeSuperseded tells a worker that another connection took its place.
const closeSuperseded = 4001

// connection is one event connection. problems and last belong to its reading goroutine.
type connection struct {
	ws       *websocket.Conn
	problems int
	last     uint64

	mu   sync.Mutex // guards writes
	once sync.Once
}

func newConnection(ws *websocket.Conn) *connection {
	ws.SetReadLimit(wire.MaxInbound)
	return &connection{ws: ws}
}

func (c *connection) write(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, frame)
}

// close says why, once, and cuts the connection.
func (c *connection) close(code int, reason string) {
	c.once.Do(func() {
		msg := websocket.FormatCloseMessage(code, reason)
		_ = c.ws.WriteControl(websocket.CloseMessage, msg, time.Now().Add(closeWait))
		_ = c.ws.Close()
	})
}

// serve reads until the connection ends, calling frame for each text message, and pings
// meanwhile.
func (c *connection) serve(ctx context.Context, frame func([]byte)) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.ping(ctx, stop) })
	defer wg.Wait()
	defer close(stop)
	defer c.close(websocket.CloseNormalClosure, "")

	extend := func(string) error { return c.ws.SetReadDeadline(time.Now().Add(pongWait)) }
	_ = extend("")
	c.ws.SetPongHandler(extend)
	for {
		kind, raw, err := c.ws.ReadMessage()
		if err != nil {
			return
		}
		if kind != websocket.TextMessage {
			c.close(websocket.CloseUnsupportedData, "text frames only")
			return
		}
		_ = extend("")
		frame(raw)
	}
}

func (c *connection) ping(ctx context.Context, stop <-chan struct{}) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				_ = c.ws.Close()
				return
			}
		case <-ctx.Done():
			c.close(websocket.CloseGoingAway, "hub stops")
			return
		case <-stop:
			return
		}
	}
}
