package post

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"simplex/llm"
)

// Limits of §6.2 and of the clean-up after an answer.
const (
	connectLimit   = 30 * time.Second
	handshakeLimit = 30 * time.Second
	writeLimit     = 60 * time.Second
	excerptLimit   = 2048
	drainLimit     = time.Second
	drainBytes     = 64 << 10
)

// Config says what a Client needs to know. Model is the filled configuration of the
// provider; its Endpoint must have the plugin's values already.
type Config struct {
	Model llm.Config
	// Dial opens connections instead of the network, without a proxy; nil: the
	// network, by way of the proxy that the environment names (HTTPS_PROXY, NO_PROXY…).
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client posts to one endpoint and keeps its connections. It may be used by several
// goroutines at once.
type Client struct {
	target  target
	shown   string // the target's URL as errors may tell it; "": nobody should look for it
	secrets secrets
	retry   llm.Retry
	clock   llm.Clock
	random  func() uint64
	log     *slog.Logger
	pool    *http.Transport

	closing context.Context
	close   context.CancelFunc
	drains  sync.WaitGroup
}

// New checks the endpoint. Nothing is connected yet.
func New(cfg Config) (*Client, error) {
	t, err := resolve(cfg.Model.Endpoint)
	if err != nil {
		return nil, err
	}
	m := cfg.Model.Filled()
	c := &Client{
		target: t, secrets: newSecrets(m.Endpoint), retry: m.Retry,
		clock: m.Clock, random: m.Random, log: m.Logger,
	}
	if cfg.Dial == nil {
		c.shown = shownURL(t.url)
	}
	c.closing, c.close = context.WithCancel(context.Background())
	c.pool = newPool(cfg.Dial)
	return c, nil
}

func newPool(dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	proxy := environmentProxy
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectLimit}).DialContext
	} else {
		proxy = nil
	}
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dial,
		Protocols:           &http1,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: handshakeLimit,
		DisableCompression:  true, // a compressed stream is held back by its compressor
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		ReadBufferSize:      32 << 10,
		WriteBufferSize:     smallBody + 4<<10, // a small body leaves with its headers in one write
	}
}

// errProxy is told without the proxy's URL, which may hold a password.
var errProxy = errors.New("the proxy that HTTPS_PROXY or HTTP_PROXY names is not a URL")

func environmentProxy(r *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, errProxy
	}
	return proxy, nil
}

// Do posts body and calls read with the answer's stream. When a try fails in a way
// that is worth repeating, all of it is done again; read starts from nothing each
// time. A cancelled context ends any wait at once.
func (c *Client) Do(ctx context.Context, body Body, read func(*Stream) error) error {
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return llm.Aborted(ctx)
		}
		err := c.try(ctx, body, read)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return llm.Aborted(ctx)
		}
		failed, ok := errors.AsType[*llm.Error](err)
		if !ok {
			return err
		}
		failed.Tries, failed.URL = try+1, c.shown
		if !failed.Transient || try >= c.retry.MaxAttempts {
			return err
		}
		wait := c.delay(try, failed.RetryAfter)
		c.log.InfoContext(ctx, "model request is repeated", "stage", string(failed.Stage), "status", failed.Status, "try", try+1, "wait", wait)
		if !c.sleep(ctx, wait) {
			return llm.Aborted(ctx)
		}
	}
}

// delay is how long to wait after the given try (from 0).
func (c *Client) delay(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, c.retry.MaxBackoff)
	}
	limit := c.retry.InitialBackoff
	for range try {
		if limit >= c.retry.MaxBackoff/2 {
			limit = c.retry.MaxBackoff
			break
		}
		limit *= 2
	}
	limit = min(limit, c.retry.MaxBackoff)
	return time.Duration(c.random() % (uint64(limit) + 1))
}

// sleep tells whether the time passed before the context ended.
func (c *Client) sleep(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	timer := c.clock.AfterFunc(d, func() { close(done) })
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Close ends the idle connections and waits for what Do left to be read.
func (c *Client) Close() {
	c.close()
	c.drains.Wait()
	c.pool.CloseIdleConnections()
}
