package intercom

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Client is the persistent end of a text WebSocket (tools.md §5.1): it connects, and
// connects again, for as long as Run runs. It is single use; all methods may be called
// concurrently.
type Client struct {
	cfg       Config
	connector connector
	queue     *writeQueue
	life      context.Context // ended by Stop, whenever that comes
	end       context.CancelFunc
	ran       atomic.Bool
	connected atomic.Bool
}

// NewClient checks the configuration. Nothing is started: that is Run's to do.
func NewClient(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	return &Client{
		cfg:       cfg,
		life:      life,
		end:       end,
		connector: connector{cfg.URL, cfg.TLS, cfg.Dial, stepTimeout},
		queue:     newWriteQueue(cfg.WriteFrames, cfg.WriteBytes),
	}, nil
}

// Run keeps the connection up until Stop or the end of ctx, then returns nil. Failures to
// connect and lost connections are logged and tried again without end; a *FatalError is
// returned for a binary message or a failed handler. At its return all is closed, and
// what was queued is discarded.
func (c *Client) Run(ctx context.Context) error {
	if c.ran.Swap(true) {
		return ErrUsed
	}
	defer c.Stop()
	defer context.AfterFunc(ctx, c.Stop)()
	ctx = c.life
	b := backoff{initial: c.cfg.InitialBackoff, max: c.cfg.MaxBackoff, random: c.cfg.Random}
	for {
		lasted, err := c.attempt(ctx)
		if fatal, ok := errors.AsType[*FatalError](err); ok {
			return fatal
		}
		if ctx.Err() != nil {
			return nil
		}
		if lasted >= resetAfter {
			b.reset()
		}
		wait := b.next()
		c.cfg.Logger.Warn("hub connection failed", "endpoint", c.cfg.URL.Redacted(),
			"error", err, "lasted", lasted.Round(time.Millisecond), "retry_in", wait.Round(time.Millisecond))
		if err := c.cfg.Sleep(ctx, wait); err != nil && ctx.Err() != nil {
			return nil
		}
	}
}

// attempt connects once and serves the connection to its end.
func (c *Client) attempt(ctx context.Context) (lasted time.Duration, err error) {
	l, err := c.connector.open(ctx)
	if err != nil {
		return 0, err
	}
	c.cfg.Logger.Info("hub connected", "endpoint", c.cfg.URL.Redacted())
	c.connected.Store(true)
	defer c.connected.Store(false)
	start := c.cfg.Now()
	err = newSession(c, l).serve(ctx)
	return c.cfg.Now().Sub(start), err
}

// Send admits a frame, which becomes the client's own; it does not wait for the write.
// While all frame slots are taken it waits until ctx ends. Errors: ErrQueueBytes at once
// when the bytes would pass their limit, ErrStopped.
func (c *Client) Send(ctx context.Context, frame []byte) error {
	if err := c.queue.put(ctx, frame); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// TrySend is Send without waiting; ErrQueueFull when all frame slots are taken.
func (c *Client) TrySend(frame []byte) error {
	if _, err := c.queue.tryPut(frame); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// Drain waits until every admitted frame was written or lost, the client was stopped
// (ErrStopped), or ctx ended.
func (c *Client) Drain(ctx context.Context) error { return c.queue.drain(ctx) }

// Space is signalled, coalesced, whenever a frame was taken or its write is over. It has
// one receiver.
func (c *Client) Space() <-chan struct{} { return c.queue.space }

// Load is the number of frames that wait, and of the bytes of these and of the one being
// written (transport_bytes).
func (c *Client) Load() (frames, bytes int) { return c.queue.load() }

// Connected tells whether a connection is up now.
func (c *Client) Connected() bool { return c.connected.Load() }

// Stop discards what is queued and ends Run; it does not wait for that.
func (c *Client) Stop() {
	c.queue.stop()
	c.end()
}
