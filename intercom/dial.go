package intercom

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"simplex/wire"
)

const (
	stepTimeout  = 30 * time.Second // each of TCP, TLS and upgrade
	writeTimeout = 30 * time.Second // a write without any progress
	closeTimeout = time.Second      // our part of a close handshake
	bufferSize   = 16 << 10
)

// Dial opens the TCP connection; the default is a net.Dialer with keepalive.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// link is one established WebSocket.
type link struct {
	*websocket.Conn
	net *deadlineConn
}

// connector opens links to one endpoint.
type connector struct {
	url  wire.URL
	tls  *tls.Config // nil: the system's roots
	dial Dial        // nil: the default
	step time.Duration
}

// open connects. Cancelling ctx aborts any step. Every error is a *DialError.
func (c *connector) open(ctx context.Context) (*link, error) {
	raw, err := c.connect(ctx)
	if err != nil {
		return nil, &DialError{Step: "connect", Err: err}
	}
	if c.url.Secure {
		secured, err := c.secure(ctx, raw)
		if err != nil {
			_ = raw.Close()
			return nil, &DialError{Step: "tls", Err: err}
		}
		raw = secured
	}
	l, status, err := c.upgrade(ctx, raw)
	if err != nil {
		_ = raw.Close()
		return nil, &DialError{Step: "upgrade", Status: status, Err: err}
	}
	return l, nil
}

func (c *connector) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.step)
	defer cancel()
	dial := c.dial
	if dial == nil {
		keepalive := net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
		dial = (&net.Dialer{KeepAliveConfig: keepalive}).DialContext
	}
	return dial(ctx, "tcp", c.url.Address())
}

func (c *connector) secure(ctx context.Context, raw net.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.step)
	defer cancel()
	cfg := &tls.Config{}
	if c.tls != nil {
		cfg = c.tls.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName = c.url.Host
	}
	secured := tls.Client(raw, cfg)
	return secured, secured.HandshakeContext(ctx)
}

// upgrade speaks the opening handshake on raw, which stays the caller's on an error.
func (c *connector) upgrade(ctx context.Context, raw net.Conn) (l *link, status int, err error) {
	conn := &deadlineConn{Conn: raw, writeWithin: writeTimeout}
	release := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer release()
	given := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	d := websocket.Dialer{
		NetDialContext:    given,
		NetDialTLSContext: given,
		HandshakeTimeout:  c.step,
		ReadBufferSize:    bufferSize,
		WriteBufferSize:   bufferSize,
	}
	ws, resp, err := d.DialContext(ctx, c.url.String(), nil)
	if resp != nil && err != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		status = resp.StatusCode
	}
	if err != nil {
		return nil, status, unquoted(ctx, err)
	}
	return &link{ws, conn}, 0, nil
}

// unquoted leaves out what an error quotes of the peer's answer: one that sends back what
// it was asked would bring the query, and the token in it, into the log.
func unquoted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return err
	}
	for _, known := range []error{websocket.ErrBadHandshake, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errNoUpgrade
}
