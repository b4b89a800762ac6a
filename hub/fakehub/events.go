package fakehub

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// serveEvents keeps what one event connection sends, until it ends.
func (h *Hub) serveEvents(ws *websocket.Conn) {
	h.mu.Lock()
	h.conn = ws
	h.count++
	h.wake()
	h.mu.Unlock()
	for {
		kind, raw, err := ws.ReadMessage()
		if err != nil {
			return
		}
		h.keep(kind, raw)
	}
}

func (h *Hub) keep(kind int, raw []byte) {
	e, err := decodeEvent(raw)
	if kind != websocket.TextMessage {
		err = fmt.Errorf("frame of type %d", kind)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.faults = append(h.faults, fmt.Errorf("%w: %.300q", err, raw))
	} else {
		h.events = append(h.events, e)
	}
	h.wake()
}

// Connected waits for the n-th event connection, counted from 1 over the hub's life.
func (h *Hub) Connected(ctx context.Context, n int) error {
	return h.await(ctx, func() bool { return h.count >= n && h.conn != nil })
}

// Disconnected waits until no event connection stands.
func (h *Hub) Disconnected(ctx context.Context) error {
	return h.await(ctx, func() bool { return h.conn == nil })
}

// Next waits for the next event that was not given yet.
func (h *Hub) Next(ctx context.Context) (Event, error) {
	var e Event
	err := h.await(ctx, func() bool {
		if h.next >= len(h.events) {
			return false
		}
		e = h.events[h.next]
		h.next++
		return true
	})
	return e, err
}

// Rest gives the events so far that were not given yet.
func (h *Hub) Rest() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(h.events[h.next:])
	h.next = len(h.events)
	return out
}

// Events gives all events so far, those that Next gave included.
func (h *Hub) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// Faults gives what came and was no event.
func (h *Hub) Faults() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.faults)
}

// SendRaw writes one message of the given type (websocket.TextMessage, BinaryMessage) on
// the event connection, as it is.
func (h *Hub) SendRaw(kind int, raw []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn == nil {
		return ErrNoWorker
	}
	if err := h.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	return h.conn.WriteMessage(kind, raw)
}

// Payload sends data in a payload envelope.
func (h *Hub) Payload(data any) error { return h.send("payload", data) }

// Signal sends data in a signal envelope.
func (h *Hub) Signal(data any) error { return h.send("signal", data) }

func (h *Hub) send(kind string, data any) error {
	raw, err := json.Marshal(map[string]any{"type": kind, "data": data})
	if err != nil {
		return err
	}
	return h.SendRaw(websocket.TextMessage, raw)
}
