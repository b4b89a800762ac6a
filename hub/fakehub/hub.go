package fakehub

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Token is the secret in the query of both endpoints; who does not bring it gets 401.
const Token = "fakehub-secret-token"

// ErrNoWorker says that no event connection stands.
var ErrNoWorker = errors.New("fakehub: no worker is connected")

const writeLimit = 10 * time.Second

// Hub is one listening fake. All methods are safe for concurrent use.
type Hub struct {
	addr     string
	asked    chan *Confirmation
	upgrader websocket.Upgrader

	mu      sync.Mutex
	server  *http.Server // nil while down
	served  *sync.WaitGroup
	open    map[*websocket.Conn]struct{}
	conn    *websocket.Conn // the newest event connection, nil when it ended
	count   int             // event connections so far
	events  []Event
	next    int
	faults  []error
	changed chan struct{} // closed and replaced at every change
}

// Start listens on a free loopback port.
func Start() (*Hub, error) {
	h := &Hub{
		asked:    make(chan *Confirmation, 16),
		upgrader: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
		open:     make(map[*websocket.Conn]struct{}),
		changed:  make(chan struct{}),
	}
	if err := h.listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	return h, nil
}

// EventsURL is for client.endpoint, token included.
func (h *Hub) EventsURL() string { return "ws://" + h.addr + "/events?token=" + Token }

// ConfirmURL is for security.confirmation.endpoint, token included.
func (h *Hub) ConfirmURL() string { return "ws://" + h.addr + "/confirm?token=" + Token }

func (h *Hub) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addr = l.Addr().String()
	mux := http.NewServeMux()
	served := new(sync.WaitGroup)
	mux.HandleFunc("/events", h.guard(served, h.serveEvents))
	mux.HandleFunc("/confirm", h.guard(served, h.serveConfirmation))
	h.server, h.served = &http.Server{Handler: mux, ReadHeaderTimeout: writeLimit}, served
	server := h.server
	served.Go(func() { _ = server.Serve(l) })
	return nil
}

// guard counts a request in and lets only those pass that know the token.
func (h *Hub) guard(served *sync.WaitGroup, next func(*websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("token") != Token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if !h.enter(served) {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		defer served.Done()
		ws, err := h.upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer h.leave(ws)
		if h.add(ws) {
			next(ws)
		}
	}
}

// enter counts a request in, unless the hub went down.
func (h *Hub) enter(served *sync.WaitGroup) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil || h.served != served {
		return false
	}
	served.Add(1)
	return true
}

func (h *Hub) add(ws *websocket.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return false
	}
	h.open[ws] = struct{}{}
	return true
}

func (h *Hub) leave(ws *websocket.Conn) {
	_ = ws.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, ws)
	if h.conn == ws {
		h.conn = nil
	}
	h.wake()
}

// wake tells everyone who waits that something changed. The lock is held.
func (h *Hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// Drop cuts every connection without a close handshake and goes on listening.
func (h *Hub) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ws := range h.open {
		_ = ws.Close()
	}
}

// Down stops listening and cuts every connection. Events that came are kept.
func (h *Hub) Down() {
	h.mu.Lock()
	server, served := h.server, h.served
	h.server = nil
	h.mu.Unlock()
	if server == nil {
		return
	}
	_ = server.Close()
	h.Drop()
	served.Wait()
}

// Up listens again on the address it had before Down.
func (h *Hub) Up() error { return h.listen(h.addr) }

// Close is Down for good.
func (h *Hub) Close() { h.Down() }

// await waits until done, called with the lock held, is true.
func (h *Hub) await(ctx context.Context, done func() bool) error {
	for {
		h.mu.Lock()
		ok, changed := done(), h.changed
		h.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
