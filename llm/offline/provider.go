package offline

import (
	"context"
	"errors"
	"net"
	"sync"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/state"
)

// Provider is the plugin offline: package chat in front of a Server of its own, which
// starts when the first connection is wanted.
type Provider struct {
	*chat.Provider
	cfg Config

	mu     sync.Mutex
	server *Server
	closed bool
}

var errClosed = errors.New("the offline provider is closed")

// New reads `config.scenario` and refuses any other setting. The endpoint's address is of no use here and ignored.
func New(cfg llm.Config) (*Provider, error) {
	p := &Provider{}
	for name := range cfg.Settings.All() {
		if name != "scenario" {
			return nil, bad(cfg.Name, name, "is not a setting of the plugin offline; the only one is scenario")
		}
	}
	if v, has := cfg.Settings.Get("scenario"); has {
		name, isText := v.Text()
		if !isText {
			return nil, bad(cfg.Name, "scenario", "must be text")
		}
		if err := CheckScenario(name); err != nil {
			return nil, bad(cfg.Name, "scenario", err.Error())
		}
		p.cfg.Scenario = name
	}
	cfg.Endpoint.BaseURL = "http://127.0.0.1"
	dialect := chat.Generic()
	dialect.ReplaysReasoning = func(state.Object) bool { return p.cfg.Scenario == "wants-reasoning" }
	inner, err := chat.New(chat.Config{Config: cfg, Dialect: dialect, Dial: p.dial})
	if err != nil {
		return nil, err
	}
	p.Provider = inner
	return p, nil
}

// bad is the fault of one setting of that provider.
func bad(provider, name, reason string) error {
	return &llm.ConfigError{Provider: provider, Path: "/config/" + name, Err: errors.New(reason)}
}

// dial connects to the server, and starts it first where it does not run yet.
func (p *Provider) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	s, err := p.running()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, s.listener.Addr().String())
}

func (p *Provider) running() (*Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if p.server == nil {
		s, err := Start(p.cfg)
		if err != nil {
			return nil, err
		}
		p.server = s
	}
	return p.server, nil
}

// Close ends the connections and the server.
func (p *Provider) Close() error {
	err := p.Provider.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.server == nil {
		return err
	}
	err = errors.Join(err, p.server.Close())
	p.server = nil
	return err
}
