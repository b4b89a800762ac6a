package fakehub

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"time"

	"github.com/gorilla/websocket"
)

// Confirmation is one question of the worker, waiting for the test. The worker's end of
// it closes Gone.
type Confirmation struct {
	WorkerID       string         `json:"worker_id"`
	SessionID      string         `json:"session_id"`
	RunID          string         `json:"run_id"`
	ConfirmationID string         `json:"confirmation_id"`
	Call           jsontext.Value `json:"call"`

	Raw  string          `json:"-"`
	Gone <-chan struct{} `json:"-"`
	ws   *websocket.Conn
}

// serveConfirmation reads one question, hands it to the test, and waits for its end.
func (h *Hub) serveConfirmation(ws *websocket.Conn) {
	_, raw, err := ws.ReadMessage()
	if err != nil {
		return
	}
	var request struct {
		Type string       `json:"type"`
		Data Confirmation `json:"data"`
	}
	if json.Unmarshal(raw, &request) != nil || request.Type != "confirmation_request" {
		h.keep(websocket.TextMessage, raw) // a fault: it is no event
		return
	}
	gone := make(chan struct{})
	defer close(gone)
	c := &request.Data
	c.Raw, c.Gone, c.ws = string(raw), gone, ws
	h.asked <- c
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
}

// Asked waits for the next question.
func (h *Hub) Asked(ctx context.Context) (*Confirmation, error) {
	select {
	case c := <-h.asked:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Pending tells how many questions wait that Asked did not give yet.
func (h *Hub) Pending() int { return len(h.asked) }

// Approve answers with the question's own ids.
func (c *Confirmation) Approve() error { return c.Answer("approved", "the test says so") }

// Deny answers with the question's own ids.
func (c *Confirmation) Deny(reason string) error { return c.Answer("denied", reason) }

// Answer sends a decision, right or not.
func (c *Confirmation) Answer(decision, reason string) error {
	raw, err := json.Marshal(map[string]any{"type": "confirmation_response", "data": map[string]string{
		"worker_id": c.WorkerID, "session_id": c.SessionID, "run_id": c.RunID, "confirmation_id": c.ConfirmationID,
		"decision": decision, "reason": reason,
	}})
	if err != nil {
		return err
	}
	return c.Reply(websocket.TextMessage, raw)
}

// Reply sends any message as the answer.
func (c *Confirmation) Reply(kind int, raw []byte) error {
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	return c.ws.WriteMessage(kind, raw)
}

// HangUp ends the question without an answer.
func (c *Confirmation) HangUp() { _ = c.ws.Close() }
