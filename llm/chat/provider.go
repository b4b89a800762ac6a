package chat

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"simplex/llm"
	"simplex/llm/post"
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
type Provider struct {
	name    string
	dialect Dialect
	client  *post.Client

	instance uint64 // half of the exchange ids
	count    atomic.Uint64

	mu       sync.Mutex // guards settings
	settings state.Object

	building sync.Mutex // held by the exchange that uses encoder
	encoder  *encoder
}

var _ llm.Provider = (*Provider)(nil)

// New checks the configuration. Nothing is connected before the first exchange.
func New(cfg Config) (*Provider, error) {
	c := cfg.Filled()
	if c.Model == "" {
		return nil, fmt.Errorf("%w: %s: model is missing", llm.ErrConfig, c.Name)
	}
	c.Endpoint = cfg.Dialect.Endpoint.Overlay(c.Endpoint)
	client, err := post.New(post.Config{Model: c, Dial: cfg.Dial})
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	p := &Provider{
		name: c.Name, dialect: cfg.Dialect, client: client, instance: c.Random(),
		settings: c.Settings.With("model", state.StringValue(c.Model)),
		encoder:  newEncoder(cfg.Dialect),
	}
	if _, err := requestSettings(p.settings, cfg.Dialect); err != nil {
		return nil, fmt.Errorf("%w: provider %s: %w", llm.ErrConfig, c.Name, err)
	}
	return p, nil
}

// Exchange implements llm.Provider.
func (p *Provider) Exchange(ctx context.Context, req llm.Request) (*state.Message, error) {
	enc, release := p.acquire()
	defer release()
	body, err := enc.build(p.current(), req.State)
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
	return got.message(p.dialect.CacheHits, enc.ids.fork(), p.exchangeID())
}

// acquire gives the encoder that remembers the conversation, or a fresh one while
// another exchange uses it.
func (p *Provider) acquire() (*encoder, func()) {
	if p.building.TryLock() {
		return p.encoder, p.building.Unlock
	}
	return newEncoder(p.dialect), func() {}
}

func (p *Provider) exchangeID() string {
	return fmt.Sprintf("xchg-%016x-%d", p.instance, p.count.Add(1))
}

func (p *Provider) current() state.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

// Options implements llm.Provider.
func (p *Provider) Options() llm.OptionSet {
	settings := p.current()
	set := llm.OptionSet{Available: slices.Clone(p.dialect.Options), Current: state.EmptyObject()}
	model, _ := settings.Get("model")
	if len(set.Available) == 0 {
		name, _ := model.Text()
		set.Available = []llm.Option{{Name: "model", Options: []string{name}}}
	}
	for _, o := range set.Available {
		if v, ok := currentValue(settings, o.Name); ok {
			set.Current = set.Current.With(o.Name, v)
		}
	}
	return set
}

// currentValue reads an option: the effort may stand in the reasoning object, too.
func currentValue(settings state.Object, name string) (state.Value, bool) {
	if v, ok := settings.Get(name); ok && !v.IsNull() {
		return v, true
	}
	if name == "reasoning_effort" {
		return effortIn(settings)
	}
	return state.Value{}, false
}

// SetOptions implements llm.Provider. It counts from the next exchange on.
func (p *Provider) SetOptions(choice state.Object) error {
	if err := llm.CheckChoice(choice, p.Options().Available); err != nil {
		return fmt.Errorf("provider %s: %w", p.name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next, err := llm.PatchSettings(p.settings, choice)
	if err != nil {
		return fmt.Errorf("provider %s: %w", p.name, err)
	}
	p.settings = next
	return nil
}

// Name implements llm.Provider.
func (p *Provider) Name() string { return p.name }

// Close implements llm.Provider.
func (p *Provider) Close() error {
	p.client.Close()
	return nil
}
