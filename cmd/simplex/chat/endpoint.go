package chat

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"sync"
	"time"

	"simplex/hub/adapter"
	"simplex/load"
)

// endpoint is the loopback listener that the worker connects to.
type endpoint struct {
	adapter *adapter.Adapter
	server  *http.Server
	addr    string
	token   string
	wg      sync.WaitGroup
}

// listen opens the listener and serves until close.
func listen(a *adapter.Adapter) (*endpoint, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &endpoint{adapter: a, addr: l.Addr().String(), token: rand.Text()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", e.guard(a.ServeEvents))
	mux.HandleFunc("GET /confirm", e.guard(a.ServeConfirmation))
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	e.wg.Go(func() { _ = e.server.Serve(l) })
	return e, nil
}

// guard refuses who does not know the token: other users of the machine reach loopback, too.
func (e *endpoint) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(e.token)) != 1 {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// confirmationTimeout bounds how long an operator may think.
const confirmationTimeout = 30 * time.Minute

// fillIn gives the configuration with this endpoint in the places that a Hub would have.
// What the file says there is replaced: a chat never talks to a remote Hub.
func (e *endpoint) fillIn(cfg *load.Config) (*load.Config, error) {
	events, err := load.ParseEndpoint("ws://" + e.addr + "/events?token=" + e.token)
	if err != nil {
		return nil, err
	}
	confirm, err := load.ParseEndpoint("ws://" + e.addr + "/confirm?token=" + e.token)
	if err != nil {
		return nil, err
	}
	out := *cfg
	client := load.Client{}
	if cfg.Client != nil {
		client = *cfg.Client
	}
	client.Endpoint = events
	out.Client = &client
	out.Confirmation = &load.Remote{Endpoint: confirm, Timeout: confirmationTimeout}
	out.HubCall = nil
	return &out, nil
}

func (e *endpoint) close() {
	e.adapter.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if e.server.Shutdown(ctx) != nil {
		_ = e.server.Close()
	}
	e.wg.Wait()
}
