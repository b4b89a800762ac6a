package intercom_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"simplex/intercom"
)

// A peer that pings and never answers the close frame holds nobody up.
func TestStopAgainstAPingingPeer(t *testing.T) {
	t.Parallel()
	quit := make(chan struct{})
	defer close(quit)
	url := hub(t, func(_ int, c *websocket.Conn) {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				if c.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
					return
				}
			}
		}
	})
	pinged := make(chan struct{}, 1)
	c, err := intercom.NewClient(intercom.Config{URL: url, Handler: func([]byte) error { return nil }, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return countedReads{conn, pinged}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	for range 4 { // the handshake and some pings
		<-pinged
	}
	c.Stop()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("Run goes on after Stop")
	}
}

// countedReads tells of each read that brought something.
type countedReads struct {
	net.Conn
	came chan<- struct{}
}

func (c countedReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case c.came <- struct{}{}:
	default:
	}
	return n, err
}

// A peer that sends back what it gets does not bring the token into a log or an error.
func TestEchoingPeerKeepsTheToken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	var log logged
	cfg := intercom.Config{
		URL: parse(t, "ws://"+l.Addr().String()+"/events?token=SECRET"), Handler: func([]byte) error { return nil },
		Logger: log.logger(), InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond,
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tries := 0
	cfg.Sleep = func(context.Context, time.Duration) error {
		if tries++; tries == 3 {
			cancel()
		}
		return ctx.Err()
	}
	c, err := intercom.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Run(ctx)
	_, err = intercom.Exchange(t.Context(), intercom.ExchangeConfig{URL: cfg.URL, Timeout: patience}, []byte("{}"))
	if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(log.String(), "SECRET") || log.String() == "" {
		t.Errorf("%v\n%s", err, log.String())
	}
}
