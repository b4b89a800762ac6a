package soak

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// event is what the tests look at of an event.
type event struct {
	Name      string         `json:"event"`
	WorkerID  string         `json:"worker_id"`
	RequestID string         `json:"request_id"`
	Sequence  uint64         `json:"sequence"`
	Data      jsontext.Value `json:"data"`

	conn int // the connection of this worker that brought it, counted from 1
}

// peer is a worker as the Hub sees it, by the path that it connects to.
type peer struct {
	events []event
	conns  int
	ws     *websocket.Conn // the newest connection, nil when it ended
	joined []time.Time     // of each connection
}

// hub serves many workers. It can stop reading, cut, and go away.
type hub struct {
	mu      sync.Mutex
	peers   map[string]*peer
	open    map[*websocket.Conn]struct{}
	changed chan struct{}
	stalled chan struct{} // not nil while the hub does not read
	server  *http.Server
	served  sync.WaitGroup
	faults  []error
	quiet   bool // keep only the newest event of each worker
}

func newHub() *hub {
	return &hub{peers: make(map[string]*peer), open: make(map[*websocket.Conn]struct{}), changed: make(chan struct{})}
}

// listen serves on l until down.
func (h *hub) listen(l net.Listener) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second}
	h.mu.Lock()
	h.server = server
	h.mu.Unlock()
	h.served.Go(func() { _ = server.Serve(l) })
}

// down closes the listener and every connection.
func (h *hub) down() {
	h.mu.Lock()
	server := h.server
	h.server = nil
	h.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
	h.resume()
	h.drop()
	h.served.Wait()
}

// drop cuts every connection.
func (h *hub) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ws := range h.open {
		_ = ws.Close()
	}
}

// stall stops reading until resume.
func (h *hub) stall() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stalled == nil {
		h.stalled = make(chan struct{})
	}
}

func (h *hub) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stalled != nil {
		close(h.stalled)
		h.stalled = nil
	}
}

// ServeHTTP implements http.Handler.
func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{ReadBufferSize: 4096, WriteBufferSize: 1024}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	h.mu.Lock()
	if h.server == nil {
		h.mu.Unlock()
		_ = ws.Close()
		return
	}
	h.served.Add(1)
	p := h.peers[r.URL.Path]
	if p == nil {
		p = new(peer)
		h.peers[r.URL.Path] = p
	}
	p.conns++
	p.ws = ws
	p.joined = append(p.joined, time.Now())
	conn := p.conns
	h.open[ws] = struct{}{}
	h.wake()
	h.mu.Unlock()
	defer h.served.Done()
	defer h.leave(p, ws)
	for {
		h.mu.Lock()
		stalled := h.stalled
		h.mu.Unlock()
		if stalled != nil {
			<-stalled
		}
		_, raw, err := ws.ReadMessage()
		if err != nil {
			return
		}
		h.keep(p, conn, raw)
	}
}

func (h *hub) leave(p *peer, ws *websocket.Conn) {
	_ = ws.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, ws)
	if p.ws == ws {
		p.ws = nil
	}
	h.wake()
}

func (h *hub) keep(p *peer, conn int, raw []byte) {
	e := event{conn: conn}
	err := json.Unmarshal(raw, &e)
	e.Data = e.Data.Clone()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.faults = append(h.faults, fmt.Errorf("%w: %.200q", err, raw))
	}
	if h.quiet {
		p.events = p.events[:0]
	}
	p.events = append(p.events, e)
	h.wake()
}

func (h *hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until done, called with the lock held, is true.
func (h *hub) await(ctx context.Context, done func() bool) error {
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

// send writes an envelope to one worker; false when it is not connected.
func (h *hub) send(path, kind string, data any) bool {
	raw, err := json.Marshal(map[string]any{"type": kind, "data": data})
	if err != nil {
		panic(err) // a mistake of the test
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.peers[path]
	if p == nil || p.ws == nil {
		return false
	}
	_ = p.ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
	return p.ws.WriteMessage(websocket.TextMessage, raw) == nil
}
