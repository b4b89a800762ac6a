package core

import (
	"context"
	"errors"

	"simplex/llm"
	"simplex/llm/providers"
	"simplex/load"
	"simplex/state"
)

// model is the provider as the loop sees it.
type model struct{ provider llm.Provider }

func (m model) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	return m.provider.Exchange(ctx, llm.Request{State: conv})
}

// newProvider builds one instance; it is closed with the application. What the plugin
// finds wrong is told with its place in the configuration.
func (a *Application) newProvider(cfg *load.Config, p load.Provider) (llm.Provider, error) {
	provider, err := providers.Build(llm.Config{
		Name: p.Name, Plugin: p.Plugin, Model: p.Model, Settings: p.Settings,
		Endpoint: llm.Endpoint{
			BaseURL: p.Endpoint.BaseURL, RequestPath: p.Endpoint.RequestPath, UserAgent: p.Endpoint.UserAgent,
			Auth:         llm.Auth{Scheme: p.Endpoint.Scheme, APIKey: p.Endpoint.APIKey, HeaderName: p.Endpoint.HeaderName},
			ExtraHeaders: p.Endpoint.ExtraHeaders,
		},
		Retry: llm.Retry{
			MaxAttempts: p.Retry.MaxAttempts, InitialBackoff: p.Retry.InitialBackoff,
			MaxBackoff: p.Retry.MaxBackoff, IdleTimeout: p.Retry.IdleTimeout,
		},
		Logger: a.logger,
	})
	if bad, ok := errors.AsType[*llm.ConfigError](err); ok {
		return nil, cfg.Fault(p.Path+bad.Path, bad.Err)
	}
	if err != nil {
		return nil, cfg.Fault(p.Path+"/plugin", err)
	}
	a.closers = append(a.closers, provider.Close)
	return provider, nil
}
