package adapter

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"simplex/wire"
)

// ServeConfirmation accepts one confirmation socket: one request, one answer with its
// four ids, and the worker closes (hub.md §3.3). A request that is not valid gets no
// answer, which the worker takes as a denial.
func (a *Adapter) ServeConfirmation(w http.ResponseWriter, r *http.Request) {
	c := a.accept(w, r)
	if c == nil {
		return
	}
	defer a.wg.Done()
	defer context.AfterFunc(a.ctx, func() { c.close(websocket.CloseGoingAway, "hub stops") })()
	c.ws.SetReadLimit(wire.MaxConfirmRequest)
	_ = c.ws.SetReadDeadline(time.Now().Add(pongWait))
	req, err := a.confirmation(c.ws)
	if err != nil {
		a.countError()
		a.cfg.Logger.Warn("a confirmation request was refused", "session", a.cfg.SessionID, "error", err)
		c.close(websocket.ClosePolicyViolation, "bad confirmation request")
		return
	}
	defer a.forget(req.ConfirmationID)
	a.decide(c, req)
}

func (a *Adapter) confirmation(ws *websocket.Conn) (*wire.ConfirmRequest, error) {
	kind, raw, err := ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	if kind != websocket.TextMessage {
		return nil, errors.New("text frames only")
	}
	req, err := wire.DecodeConfirmRequest(raw)
	if err != nil {
		return nil, err
	}
	if req.SessionID != a.cfg.SessionID {
		return nil, errors.New("the request is of another session")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, open := a.confirms[req.ConfirmationID]; open {
		return nil, errors.New("the confirmation is already open")
	}
	a.confirms[req.ConfirmationID] = struct{}{}
	return &req, nil
}

// decide asks the handler and answers, unless the worker is gone by then.
func (a *Adapter) decide(c *connection, req *wire.ConfirmRequest) {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	gone := make(chan struct{})
	_ = c.ws.SetReadDeadline(time.Time{})
	go func() {
		defer close(gone)
		_, _, _ = c.ws.ReadMessage() // the worker says nothing more: any end of this read is the end
		cancel()
	}()
	d := a.cfg.Handler.Confirm(ctx, req)
	if ctx.Err() == nil {
		if raw, err := wire.EncodeConfirmResponse(answer(req, d)); err == nil {
			_ = c.write(raw)
		}
		timer := time.NewTimer(closeWait)
		defer timer.Stop()
		select {
		case <-gone:
		case <-timer.C:
		case <-a.ctx.Done():
		}
	}
	c.close(websocket.CloseNormalClosure, "")
	<-gone
}

func answer(req *wire.ConfirmRequest, d Decision) wire.ConfirmResponse {
	out := wire.ConfirmResponse{ConfirmIDs: req.ConfirmIDs, Decision: wire.Denied, Reason: d.Reason}
	if d.Approved {
		out.Decision = wire.Approved
	}
	return out
}

func (a *Adapter) countError() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counters.ProtocolErrors++
}

func (a *Adapter) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.confirms, id)
}
