package chat

import (
	"context"
	"net"

	"simplex/llm"
	"simplex/llm/exchange"
	"simplex/llm/replay"
	"simplex/state"
)

// Config builds a Provider.
type Config struct {
	llm.Config
	Dialect Dialect
	// Dial replaces the network; nil: the network. See post.Config.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Provider is an llm.Provider for one Chat Completions endpoint.
type Provider = exchange.Provider

// New checks the configuration. Nothing is connected before the first exchange.
func New(cfg Config) (*Provider, error) {
	d := cfg.Dialect
	return exchange.New(exchange.Config{
		Model: cfg.Config, Defaults: d.Endpoint, Dial: cfg.Dial,
		Rules: llm.SettingRules{
			Options: d.Options, Show: d.Show, Patch: d.Patch,
			Check: func(s state.Object) error { _, err := requestSettings(s, d); return err },
		},
		Form: func() replay.Form { return &form{dialect: d} },
		Answer: func(delta func(llm.Delta)) exchange.Answer {
			return &answer{delta: delta, cacheHits: d.CacheHits}
		},
	})
}
