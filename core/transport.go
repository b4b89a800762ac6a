package core

import (
	"errors"

	"simplex/intercom"
	"simplex/wire"
)

// buildTransport makes the event connection, its queues and the confirmations; nothing
// connects yet.
func (a *Application) buildTransport(cfg Config) error {
	c := cfg.Worker.Client
	if c == nil {
		return errors.New("/client/endpoint: missing")
	}
	url, err := wire.ParseURL(c.Endpoint.String())
	if err != nil {
		return cfg.Worker.Fault("/client/endpoint", err)
	}
	a.router = intercom.NewRouter(intercom.RouterConfig{
		Payloads: c.PayloadCapacity, Signals: c.SignalCapacity, Queries: c.QueryCapacity, Inspect: a.receive,
	})
	a.client, err = intercom.NewClient(intercom.Config{
		URL: url, Handler: a.router.Handle, WriteFrames: c.WriteCapacity, WriteBytes: c.WriteBytes,
		InitialBackoff: c.InitialBackoff, MaxBackoff: c.MaxBackoff, IdleTimeout: c.IdleTimeout, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	a.outbox = newOutbox(cfg.Worker.Worker.EventCapacity, func() int {
		_, bytes := a.client.Load()
		return bytes
	})
	return a.buildConfirmer(cfg)
}

func (a *Application) buildConfirmer(cfg Config) error {
	remote := cfg.Worker.Confirmation
	a.confirmer = &confirmer{worker: a.workerID, session: cfg.SessionID, newID: a.newID, logger: a.logger}
	if remote == nil {
		return nil
	}
	url, err := wire.ParseURL(remote.Endpoint.String())
	if err != nil {
		return cfg.Worker.Fault("/security/confirmation/endpoint", err)
	}
	a.confirmer.endpoint = &intercom.ExchangeConfig{URL: url, Timeout: remote.Timeout, MaxReply: wire.MaxConfirmReply}
	return nil
}
