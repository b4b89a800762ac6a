package responses

import (
	"context"
	"fmt"
	"net"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/llm/replay"
	"simplex/state"
)

// Dialect is what sets one Responses server apart from another.
type Dialect struct {
	Endpoint llm.Endpoint // what the configuration leaves open
	Options  []llm.Option // for change at run time; empty: the configured model alone
}

// OpenAI is the dialect of the plugin openai.
func OpenAI() Dialect {
	return Dialect{Endpoint: llm.Endpoint{
		BaseURL:     "https://api.openai.com",
		RequestPath: "/v1/responses",
		UserAgent:   "simplex-cpp/openai-responses",
	}}
}

// Config builds a Provider.
type Config struct {
	llm.Config
	Dialect Dialect
	// Dial replaces the network; nil: the network. See post.Config.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Provider is an llm.Provider for one Responses endpoint.
type Provider struct {
	name     string
	client   *post.Client
	settings *llm.Settings
	builders *replay.Lender
	ids      *llm.ExchangeIDs
}

var _ llm.Provider = (*Provider)(nil)

// New checks the configuration. Nothing is connected before the first exchange.
func New(cfg Config) (*Provider, error) {
	c := cfg.Filled()
	settings, err := llm.NewSettings(c, llm.SettingRules{
		Options: cfg.Dialect.Options,
		Check:   func(s state.Object) error { _, err := requestSettings(s); return err },
	})
	if err != nil {
		return nil, err
	}
	c.Endpoint = cfg.Dialect.Endpoint.Overlay(c.Endpoint)
	client, err := post.New(post.Config{Model: c, Dial: cfg.Dial})
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	return &Provider{
		name: c.Name, client: client, settings: settings,
		builders: replay.NewLender(func() replay.Form { return form{} }),
		ids:      llm.NewExchangeIDs(c.Random),
	}, nil
}

// Exchange implements llm.Provider.
func (p *Provider) Exchange(ctx context.Context, req llm.Request) (*state.Message, error) {
	builder, release := p.builders.Borrow()
	defer release()
	body, err := builder.Build(p.settings.Current(), req.State)
	if err != nil {
		return nil, &llm.Error{Stage: llm.StageRequest, Err: err}
	}
	var got *answer
	err = p.client.Do(ctx, body, func(s *post.Stream) error {
		if got != nil && got.shown && req.Delta != nil {
			req.Delta(llm.Delta{Kind: llm.DeltaRestart})
		}
		got = &answer{delta: req.Delta}
		return got.read(s)
	})
	if err != nil {
		return nil, err
	}
	return got.message(builder.IDs(), p.ids.Next())
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
