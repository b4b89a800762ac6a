package adapter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"simplex/wire"
)

// ErrNoWorker says that no worker is connected.
var ErrNoWorker = errors.New("no worker is connected")

// The deadlines of one connection.
const (
	pingInterval = 20 * time.Second
	pongWait     = 3 * pingInterval
	writeWait    = 10 * time.Second
	closeWait    = 3 * time.Second
	maxProblems  = 20
)

// Decision answers a confirmation.
type Decision struct {
	Approved bool
	Reason   string // for people; at most 64 KiB with the envelope
}

// Handler is told what the worker says. Event is called from one goroutine at a time per
// connection, in the order of arrival; the others may be called concurrently.
type Handler interface {
	// Connected is called when the event connection stands, Disconnected when it ended.
	Connected()
	Disconnected()
	Event(e *wire.Received)
	// Confirm decides about a call. Its context ends when the worker gave up or Close
	// was called; the answer is then dropped.
	Confirm(ctx context.Context, req *wire.ConfirmRequest) Decision
}

// Config says which session the adapter serves.
type Config struct {
	SessionID string
	Handler   Handler
	Logger    *slog.Logger // nil: nothing is logged
}

// Counters tell what was wrong with what the worker sent.
type Counters struct {
	ProtocolErrors int    // frames that were dropped
	Duplicates     uint64 // events whose sequence did not grow
	Gaps           uint64 // events that must be missing, by their sequence
}

// Adapter serves one session's worker. All methods are safe for concurrent use.
type Adapter struct {
	cfg      Config
	upgrader websocket.Upgrader
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	conn     *connection
	confirms map[string]struct{}
	counters Counters
}

// New makes an adapter; nothing is started.
func New(cfg Config) *Adapter {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Adapter{
		cfg: cfg, ctx: ctx, cancel: cancel, confirms: make(map[string]struct{}),
		upgrader: websocket.Upgrader{CheckOrigin: func(r *http.Request) bool { return r.Header.Get("Origin") == "" }},
	}
}

// ServeEvents accepts the worker's event connection and serves it until it ends. A newer
// connection replaces an older one.
func (a *Adapter) ServeEvents(w http.ResponseWriter, r *http.Request) {
	c := a.accept(w, r)
	if c == nil {
		return
	}
	defer a.wg.Done()
	if err := c.write([]byte(`{"type":"signal","data":{"operation":"status"}}`)); err != nil {
		c.close(websocket.CloseInternalServerErr, "")
		return
	}
	a.attach(c)
	defer a.detach(c)
	a.cfg.Handler.Connected()
	c.serve(a.ctx, func(raw []byte) { a.event(c, raw) })
	a.cfg.Handler.Disconnected()
}

// Send writes one payload or signal to the worker. Success means that the local side
// took it, not that the worker has it.
func (a *Adapter) Send(frame []byte) error {
	a.mu.Lock()
	c := a.conn
	a.mu.Unlock()
	if c == nil {
		return ErrNoWorker
	}
	return c.write(frame)
}

// Counters tells what was wrong so far.
func (a *Adapter) Counters() Counters {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counters
}

// Close ends all connections and waits for what serves them.
func (a *Adapter) Close() {
	a.mu.Lock()
	a.closed = true
	c := a.conn
	a.mu.Unlock()
	if c != nil {
		c.close(websocket.CloseGoingAway, "hub stops")
	}
	a.cancel()
	a.wg.Wait()
}

// accept upgrades a request; nil: it was answered otherwise. Close waits until the caller,
// done with the connection, says so to a.wg.
func (a *Adapter) accept(w http.ResponseWriter, r *http.Request) *connection {
	if !a.enter() {
		http.Error(w, "closing", http.StatusServiceUnavailable)
		return nil
	}
	ws, err := a.upgrader.Upgrade(w, r, nil)
	if err != nil { // the upgrader has answered
		a.wg.Done()
		return nil
	}
	return newConnection(ws)
}

func (a *Adapter) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.wg.Add(1)
	return true
}

func (a *Adapter) attach(c *connection) {
	a.mu.Lock()
	old := a.conn
	a.conn = c
	a.mu.Unlock()
	if old != nil {
		a.cfg.Logger.Warn("a newer worker connection replaces the one that stands", "session", a.cfg.SessionID)
		old.close(closeSuperseded, "superseded by a newer connection")
	}
}

func (a *Adapter) detach(c *connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == c {
		a.conn = nil
	}
}

// event checks one frame of the attached connection and hands it on.
func (a *Adapter) event(c *connection, raw []byte) {
	a.mu.Lock()
	current := a.conn == c
	a.mu.Unlock()
	if !current {
		return
	}
	e, err := wire.DecodeEvent(raw)
	if err == nil && e.SessionID != a.cfg.SessionID {
		err = errors.New("the event is of another session")
	}
	if err != nil {
		a.protocolError(c, err)
		return
	}
	if e.HasSequence {
		a.count(c, e.Sequence)
	}
	a.cfg.Handler.Event(&e)
}

func (a *Adapter) protocolError(c *connection, err error) {
	a.mu.Lock()
	a.counters.ProtocolErrors++
	a.mu.Unlock()
	c.problems++
	a.cfg.Logger.Warn("a frame of the worker was dropped", "session", a.cfg.SessionID, "error", err)
	if c.problems >= maxProblems {
		c.close(websocket.ClosePolicyViolation, "too many protocol errors")
	}
}

// count keeps book of the connection's sequence; duplicates are still processed.
func (a *Adapter) count(c *connection, seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case seq <= c.last:
		a.counters.Duplicates++
		return
	case c.last > 0 && seq > c.last+1:
		a.counters.Gaps += seq - c.last - 1
	}
	c.last = seq
}
