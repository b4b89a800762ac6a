package responses

import (
	"context"
	"net"

	"simplex/llm"
	"simplex/llm/exchange"
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
type Provider = exchange.Provider

// New checks the configuration. Nothing is connected before the first exchange.
func New(cfg Config) (*Provider, error) {
	return exchange.New(exchange.Config{
		Model: cfg.Config, Defaults: cfg.Dialect.Endpoint, Dial: cfg.Dial,
		Rules: llm.SettingRules{
			Options: cfg.Dialect.Options,
			Check:   func(s state.Object) error { _, err := requestSettings(s); return err },
		},
		Form:   func() replay.Form { return form{} },
		Answer: func(delta func(llm.Delta)) exchange.Answer { return &answer{delta: delta} },
	})
}
