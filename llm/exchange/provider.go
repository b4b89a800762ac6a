package exchange

import (
	"context"
	"errors"
	"fmt"
	"net"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/llm/replay"
	"simplex/state"
)

// Answer is a response as far as it has come, from one try. One goroutine uses it.
type Answer interface {
	// Read takes a stream in until the answer is complete, or tells why it is none.
	Read(s *post.Stream) error
	// Message makes the response out of a complete answer.
	Message(ids *replay.IDs, exchangeID string) (*state.Message, error)
}

// Config builds a Provider.
type Config struct {
	Model    llm.Config
	Defaults llm.Endpoint // what the configuration leaves open
	Rules    llm.SettingRules
	// Form makes the writer of a conversation's records; required.
	Form func() replay.Form
	// Answer begins the answer of a try; delta is nil where nobody watches. Required.
	Answer func(delta func(llm.Delta)) Answer
	// Dial replaces the network; nil: the network. See post.Config.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Provider is an llm.Provider for one endpoint.
type Provider struct {
	name     string
	answer   func(delta func(llm.Delta)) Answer
	client   *post.Client
	settings *llm.Settings
	builders *replay.Lender
	ids      *llm.ExchangeIDs
}

var _ llm.Provider = (*Provider)(nil)

// New checks the configuration. Nothing is connected before the first exchange.
func New(cfg Config) (*Provider, error) {
	c := cfg.Model.Filled()
	settings, err := llm.NewSettings(c, cfg.Rules)
	if err != nil {
		return nil, err
	}
	c.Endpoint = cfg.Defaults.Overlay(c.Endpoint)
	client, err := post.New(post.Config{Model: c, Dial: cfg.Dial})
	if err != nil {
		return nil, named(c.Name, err)
	}
	return &Provider{
		name: c.Name, answer: cfg.Answer, client: client, settings: settings,
		builders: replay.NewLender(cfg.Form), ids: llm.NewExchangeIDs(c.Random),
	}, nil
}

// named puts the provider's name into a fault of its configuration.
func named(provider string, err error) error {
	if bad, ok := errors.AsType[*llm.ConfigError](err); ok {
		return &llm.ConfigError{Provider: provider, Path: bad.Path, Err: bad.Err}
	}
	return fmt.Errorf("provider %s: %w", provider, err)
}

// Exchange implements llm.Provider.
func (p *Provider) Exchange(ctx context.Context, req llm.Request) (*state.Message, error) {
	builder, release := p.builders.Borrow()
	defer release()
	body, err := builder.Build(p.settings.Current(), req.State)
	if err != nil {
		return nil, &llm.Error{Stage: llm.StageRequest, Err: err}
	}
	w := watched{delta: req.Delta}
	var got Answer
	err = p.client.Do(ctx, body, func(s *post.Stream) error {
		got = p.answer(w.try())
		return got.Read(s)
	})
	if err != nil {
		return nil, err
	}
	return got.Message(builder.IDs(), p.ids.Next())
}

// watched tells the watcher of an exchange, if there is one, what is to be shown.
type watched struct {
	delta func(llm.Delta) // may be nil
	shown bool            // of this try
}

// try begins one, and takes back what the one before has shown.
func (w *watched) try() func(llm.Delta) {
	if w.delta == nil {
		return nil
	}
	if w.shown {
		w.shown = false
		w.delta(llm.Delta{Kind: llm.DeltaRestart})
	}
	return w.show
}

func (w *watched) show(d llm.Delta) {
	w.shown = true
	w.delta(d)
}

// Options implements llm.Provider.
func (p *Provider) Options() llm.OptionSet { return p.settings.Options() }

// SetOptions implements llm.Provider. It counts from the next exchange on.
func (p *Provider) SetOptions(choice state.Object) error {
	if err := p.settings.Choose(choice); err != nil {
		return fmt.Errorf("provider %s: %w", p.name, err)
	}
	return nil
}

// Name implements llm.Provider.
func (p *Provider) Name() string { return p.name }

// Close implements llm.Provider.
func (p *Provider) Close() error {
	p.client.Close()
	return nil
}
