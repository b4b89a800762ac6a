package intercom_test

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"simplex/intercom"
	"simplex/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none of them should come near it.
const patience = 20 * time.Second

// hub is a real WebSocket server; serve gets each accepted connection, counted from 0,
// and the connection is closed when it returns.
func hub(t testing.TB, serve func(n int, c *websocket.Conn)) wire.URL {
	t.Helper()
	server := httptest.NewServer(accept(serve))
	t.Cleanup(server.Close)
	return parse(t, "ws"+strings.TrimPrefix(server.URL, "http")+"/worker?token=secret")
}

// tlsHub is a hub behind a certificate that no system root vouches for.
func tlsHub(t testing.TB, serve func(n int, c *websocket.Conn)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(accept(serve))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func accept(serve func(n int, c *websocket.Conn)) http.Handler {
	var mu sync.Mutex
	count := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		mu.Lock()
		n := count
		count++
		mu.Unlock()
		serve(n, c)
	})
}

func parse(t testing.TB, text string) wire.URL {
	t.Helper()
	u, err := wire.ParseURL(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return u
}

// readAll passes text messages on until the connection ends.
func readAll(c *websocket.Conn, to chan<- string) {
	for {
		_, message, err := c.ReadMessage()
		if err != nil {
			return
		}
		to <- string(message)
	}
}

func ignore([]byte) error { return nil }

// running is a client whose Run is under way.
type running struct {
	*intercom.Client
	t    testing.TB
	done chan error
}

// start runs a client and stops it at the end of the test.
func start(t testing.TB, cfg intercom.Config) *running {
	t.Helper()
	if cfg.Handler == nil {
		cfg.Handler = ignore
	}
	c, err := intercom.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{c, t, make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { r.done <- c.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
	return r
}

// wait gives what Run returned.
func (r *running) wait() error {
	r.t.Helper()
	return receive(r.t, r.done)
}

func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

func send(t testing.TB, c *intercom.Client, frame string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Send(ctx, []byte(frame)); err != nil {
		t.Fatal(err)
	}
}

// waits records the waits between attempts instead of waiting.
type waits struct {
	seen chan time.Duration
}

func newWaits() *waits { return &waits{make(chan time.Duration, 100)} }

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	select {
	case w.seen <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// full is the largest jitter: the wait is (nearly) the ceiling.
func full() float64 { return 1 }

// stoppable forwards TCP between clients and a server until told to stop forwarding; the
// sockets stay open.
type stoppable struct {
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	frozen   *atomic.Bool // of the connections so far
	group    sync.WaitGroup
}

func proxy(t testing.TB, to string) *stoppable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &stoppable{listener: l, frozen: new(atomic.Bool)}
	p.group.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			frozen := p.frozen
			p.mu.Unlock()
			p.group.Go(func() { forward(in, out, frozen) })
			p.group.Go(func() { forward(out, in, frozen) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.group.Wait()
	})
	return p
}

func forward(from, to net.Conn, frozen *atomic.Bool) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if frozen.Load() {
			return // neither closed nor read any more
		}
		if err != nil {
			_ = to.Close()
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// freeze ends the forwarding of the connections there are; new ones are served.
func (p *stoppable) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen.Store(true)
	p.frozen = new(atomic.Bool)
}

// logged collects log lines.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
