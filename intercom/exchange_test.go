package intercom_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/intercom"
)

func TestExchange(t *testing.T) {
	t.Parallel()
	closed := make(chan error, 1)
	url := hub(t, func(_ int, c *websocket.Conn) {
		kind, m, err := c.ReadMessage()
		if err != nil {
			return
		}
		_ = c.WriteMessage(kind, append([]byte("re: "), m...))
		_, _, err = c.ReadMessage()
		closed <- err
	})
	request := strings.Repeat("x", 1<<20)
	reply, err := intercom.Exchange(t.Context(), intercom.ExchangeConfig{URL: url, Timeout: patience}, []byte(request))
	if err != nil || string(reply) != "re: "+request {
		t.Errorf("%d bytes, %v", len(reply), err)
	}
	if err := receive(t, closed); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("the worker ended with %v", err)
	}
	if _, err := intercom.Exchange(t.Context(), intercom.ExchangeConfig{URL: url}, nil); err == nil {
		t.Error("no timeout was accepted")
	}
}

func TestExchangeErrors(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	say := func(kind int, message string) func(int, *websocket.Conn) {
		return func(_ int, c *websocket.Conn) {
			_, _, _ = c.ReadMessage()
			_ = c.WriteMessage(kind, []byte(message))
			_, _, _ = c.ReadMessage()
		}
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	mute := hub(t, func(int, *websocket.Conn) { <-release })
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx  context.Context
		cfg  intercom.ExchangeConfig
		want error
	}{
		"stopped":           {cancelled, intercom.ExchangeConfig{URL: mute}, intercom.ErrStopped},
		"no reply":          {nil, intercom.ExchangeConfig{URL: mute, Timeout: 50 * time.Millisecond}, intercom.ErrTimedOut},
		"no upgrade":        {nil, intercom.ExchangeConfig{URL: parse(t, "ws://"+silent.Addr().String()), Timeout: 50 * time.Millisecond}, intercom.ErrTimedOut},
		"no tls":            {nil, intercom.ExchangeConfig{URL: parse(t, "wss://"+silent.Addr().String()), Timeout: 50 * time.Millisecond}, intercom.ErrTimedOut},
		"binary":            {nil, intercom.ExchangeConfig{URL: hub(t, say(websocket.BinaryMessage, "x"))}, intercom.ErrBinary},
		"too large":         {nil, intercom.ExchangeConfig{URL: hub(t, say(websocket.TextMessage, "12345")), MaxReply: 4}, intercom.ErrTooLarge},
		"just small enough": {nil, intercom.ExchangeConfig{URL: hub(t, say(websocket.TextMessage, "1234")), MaxReply: 4}, nil},
		"disconnect":        {nil, intercom.ExchangeConfig{URL: hub(t, func(int, *websocket.Conn) {})}, &intercom.DisconnectError{}},
		"nobody there":      {nil, intercom.ExchangeConfig{URL: parse(t, "ws://unconfigured.invalid?token=secret")}, &intercom.DialError{}},
		"peer does not close": {nil, intercom.ExchangeConfig{URL: hub(t, func(_ int, c *websocket.Conn) {
			_, _, _ = c.ReadMessage()
			_ = c.WriteMessage(websocket.TextMessage, []byte("x"))
			<-release
		})}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tt.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			if tt.cfg.Timeout == 0 {
				tt.cfg.Timeout = patience
			}
			_, err := intercom.Exchange(ctx, tt.cfg, []byte("request"))
			if !sameKind(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the token is shown: %v", err)
			}
		})
	}
}

// sameKind compares the typed errors by type, the others by identity.
func sameKind(err, want error) bool {
	switch want.(type) {
	case *intercom.DisconnectError:
		_, ok := errors.AsType[*intercom.DisconnectError](err)
		return ok
	case *intercom.DialError:
		_, ok := errors.AsType[*intercom.DialError](err)
		return ok
	}
	return errors.Is(err, want)
}

// An exchange stopped in the middle says so, and a peer's close code can be asked for.
func TestExchangeStoppedAndClosed(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	url := hub(t, func(_ int, c *websocket.Conn) {
		_, _, _ = c.ReadMessage()
		close(arrived)
		_, _, _ = c.ReadMessage()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := intercom.Exchange(ctx, intercom.ExchangeConfig{URL: url, Timeout: patience}, []byte("x")); !errors.Is(err, intercom.ErrStopped) || errors.Is(err, intercom.ErrTimedOut) {
		t.Errorf("got %v", err)
	}
	url = hub(t, func(_ int, c *websocket.Conn) {
		_, _, _ = c.ReadMessage()
		_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1008, "no"), time.Now().Add(time.Second))
		_, _, _ = c.ReadMessage()
	})
	_, err := intercom.Exchange(t.Context(), intercom.ExchangeConfig{URL: url, Timeout: patience}, []byte("x"))
	if closed, ok := errors.AsType[*intercom.DisconnectError](err); !ok || closed.Code != 1008 {
		t.Errorf("got %v", err)
	}
}
