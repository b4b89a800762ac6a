package intercom

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"simplex/wire"
)

// ExchangeConfig describes one-shot exchanges with one endpoint.
type ExchangeConfig struct {
	URL      wire.URL
	Timeout  time.Duration // overall, from DNS to the reply; must be positive
	MaxReply int           // bytes; 0 = wire.MaxInbound
	TLS      *tls.Config   // nil: verify against the system's roots
	Dial     Dial          // for tests
}

// Exchange opens a connection, sends one text message, reads one, and closes
// (tools.md §5.2). Nothing is tried twice. Errors, told apart by errors.Is and errors.As:
// ErrStopped when ctx was cancelled, ErrTimedOut, ErrTooLarge, ErrBinary, *DialError,
// *DisconnectError. A reply that came in time counts even if the peer then does not close.
func Exchange(ctx context.Context, cfg ExchangeConfig, request []byte) ([]byte, error) {
	if cfg.Timeout <= 0 {
		return nil, errors.New("exchange: the timeout must be positive")
	}
	limited, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, ErrTimedOut)
	defer cancel()
	reply, err := exchange(limited, cfg, request)
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, ErrTooLarge) || errors.Is(err, ErrBinary):
		return nil, fmt.Errorf("exchange: %w", err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("exchange: %w: %w", ErrStopped, context.Cause(ctx))
	case expired(limited):
		return nil, fmt.Errorf("exchange: %w after %v", ErrTimedOut, cfg.Timeout)
	}
	return nil, fmt.Errorf("exchange: %w", err)
}

// expired tells whether the deadline is over; the socket may know before the context does.
func expired(ctx context.Context) bool {
	deadline, _ := ctx.Deadline()
	return ctx.Err() != nil || !time.Now().Before(deadline)
}

func exchange(ctx context.Context, cfg ExchangeConfig, request []byte) ([]byte, error) {
	c := connector{cfg.URL, cfg.TLS, cfg.Dial, cfg.Timeout}
	l, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	release := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer release()
	limit := or(cfg.MaxReply, wire.MaxInbound)
	l.SetReadLimit(int64(limit))
	if err := l.WriteMessage(websocket.TextMessage, request); err != nil {
		return nil, &DisconnectError{0, err}
	}
	kind, r, err := l.NextReader()
	if err != nil {
		return nil, disconnect(err, limit)
	}
	if kind != websocket.TextMessage {
		sayClose(l, websocket.CloseUnsupportedData)
		return nil, ErrBinary
	}
	var reply bytes.Buffer
	if _, err := reply.ReadFrom(r); err != nil {
		return nil, disconnect(err, limit)
	}
	sayClose(l, websocket.CloseNormalClosure)
	_ = l.net.SetReadDeadline(time.Now().Add(closeTimeout))
	_, _, _ = l.NextReader() // the peer's close frame, or whatever ends the wait
	return reply.Bytes(), nil
}

func sayClose(l *link, code int) {
	message := websocket.FormatCloseMessage(code, "")
	_ = l.WriteControl(websocket.CloseMessage, message, time.Now().Add(closeTimeout))
}
