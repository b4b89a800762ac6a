package offline

import (
	"context"
	"errors"
	"fmt"
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

// New reads `config.scenario`. The endpoint's address is of no use here and ignored.
func New(cfg llm.Config) (*Provider, error) {
	p := &Provider{}
	if v, has := cfg.Settings.Get("scenario"); has {
		name, isText := v.Text()
		if !isText {
			return nil, fmt.Errorf("%w: provider %s: config.scenario must be a string", llm.ErrConfig, cfg.Name)
		}
		if err := CheckScenario(name); err != nil {
			return nil, fmt.Errorf("%w: provider %s: %w", llm.ErrConfig, cfg.Name, err)
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
