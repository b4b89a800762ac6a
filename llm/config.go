package llm

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"simplex/state"
)

// Config is the factory configuration of one provider instance (worker-data.md §2.5):
// what the configuration file says, already validated and expanded.
type Config struct {
	Name     string       // the entry's name under providers
	Plugin   string       // the factory; see package providers
	Model    string       // required
	Settings state.Object // generation settings, sent unchanged; unset counts as empty
	Endpoint Endpoint     // what is set here overlays the plugin's own values
	Retry    Retry

	Logger *slog.Logger  // nil: discard
	Clock  Clock         // nil: the system clock
	Random func() uint64 // nil: math/rand/v2; used for jitter and exchange ids
}

// Endpoint says where and how a provider is reached (§2.6). A zero value means "as
// the plugin says".
type Endpoint struct {
	BaseURL      string
	RequestPath  string
	UserAgent    string
	Auth         Auth
	ExtraHeaders map[string]string
}

// Auth schemes. Any other word counts as AuthNone.
const (
	AuthNone   = "none"
	AuthBearer = "bearer"
	AuthCustom = "custom_header"
)

// Auth is how the key is sent. An empty key sends none.
type Auth struct {
	Scheme     string
	APIKey     string
	HeaderName string // used by AuthCustom
}

// Overlay gives e with every value that is set in over put on top.
func (e Endpoint) Overlay(over Endpoint) Endpoint {
	put := func(dst *string, v string) {
		if v != "" {
			*dst = v
		}
	}
	put(&e.BaseURL, over.BaseURL)
	put(&e.RequestPath, over.RequestPath)
	put(&e.UserAgent, over.UserAgent)
	put(&e.Auth.Scheme, over.Auth.Scheme)
	put(&e.Auth.APIKey, over.Auth.APIKey)
	put(&e.Auth.HeaderName, over.Auth.HeaderName)
	if len(over.ExtraHeaders) == 0 {
		return e
	}
	headers := make(map[string]string, len(e.ExtraHeaders)+len(over.ExtraHeaders))
	for _, m := range []map[string]string{e.ExtraHeaders, over.ExtraHeaders} {
		for k, v := range m {
			headers[k] = v
		}
	}
	e.ExtraHeaders = headers
	return e
}

// Retry bounds the repetition of a failed request (§6.3, §2.10b).
type Retry struct {
	MaxAttempts    int           // retries after the first try; 0: one try
	InitialBackoff time.Duration // 0: 500 ms
	MaxBackoff     time.Duration // 0: 120 s; caps Retry-After, too
	IdleTimeout    time.Duration // no byte for that long ends the try; 0: off
}

// Defaults of §2.5 and §2.10b.
const (
	DefaultMaxAttempts    = 3
	DefaultInitialBackoff = 500 * time.Millisecond
	DefaultMaxBackoff     = 120 * time.Second
	DefaultIdleTimeout    = 300 * time.Second
)

// Clock is the time as an exchange sees it.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is the part of *time.Timer that a Clock gives.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

type systemClock struct{}

func (systemClock) Now() time.Time                            { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Filled gives the configuration with the documented zero values replaced.
func (c Config) Filled() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Random == nil {
		c.Random = rand.Uint64
	}
	if c.Retry.InitialBackoff <= 0 {
		c.Retry.InitialBackoff = DefaultInitialBackoff
	}
	if c.Retry.MaxBackoff <= 0 {
		c.Retry.MaxBackoff = DefaultMaxBackoff
	}
	if !c.Settings.IsSet() {
		c.Settings = state.EmptyObject()
	}
	return c
}
