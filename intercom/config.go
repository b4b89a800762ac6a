package intercom

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"simplex/wire"
)

// Config describes a Client. URL and Handler are required; every other zero value stands
// for the default that is named.
type Config struct {
	URL wire.URL
	// Handler gets each text message, in order, on the goroutine of Run; the message is
	// its own. An error ends Run. It must not block for long: it holds up pings.
	Handler func(message []byte) error

	WriteFrames    int           // wire.WriteFrames
	WriteBytes     int           // wire.WriteBytes; the frame being written counts
	InitialBackoff time.Duration // 250 ms
	MaxBackoff     time.Duration // 10 s
	// IdleTimeout closes a connection on which nothing, not even the answer to a ping,
	// arrived for so long; pings are sent at half of it. 0 turns it off.
	IdleTimeout time.Duration
	// PeerSilence is the least silence that counts as a dead link from a peer that has
	// been sending pings, IdleTimeout being off: 90 s, and three times its own interval.
	PeerSilence time.Duration
	MaxInbound  int         // wire.MaxInbound, one assembled message
	TLS         *tls.Config // nil: verify against the system's roots
	Logger      *slog.Logger

	Dial   Dial                                       // for tests
	Random func() float64                             // in [0,1), for the jitter
	Now    func() time.Time                           // measures how long a connection lasted
	Sleep  func(context.Context, time.Duration) error // waits between attempts
}

// resetAfter is how long a connection must last for the backoff to start over.
const resetAfter = 30 * time.Second

func (c Config) withDefaults() (Config, error) {
	c.WriteFrames = or(c.WriteFrames, wire.WriteFrames)
	c.WriteBytes = or(c.WriteBytes, wire.WriteBytes)
	c.InitialBackoff = or(c.InitialBackoff, 250*time.Millisecond)
	c.MaxBackoff = or(c.MaxBackoff, 10*time.Second)
	c.PeerSilence = or(c.PeerSilence, 90*time.Second)
	c.MaxInbound = or(c.MaxInbound, wire.MaxInbound)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	switch {
	case c.URL.Host == "" || c.URL.Port < 1:
		return c, errors.New("intercom: host or port is missing")
	case c.Handler == nil:
		return c, errors.New("intercom: handler is missing")
	case c.WriteFrames < 1 || c.WriteBytes < 1 || c.MaxInbound < 1:
		return c, errors.New("intercom: capacities must be positive")
	case c.InitialBackoff < 0 || c.MaxBackoff < c.InitialBackoff:
		return c, errors.New("intercom: max backoff is below the initial one")
	case c.IdleTimeout < 0 || c.PeerSilence < 0:
		return c, errors.New("intercom: a timeout is negative")
	}
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
