package targets

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// relay stands between a client and a Unix socket and can cut what passes.
type relay struct {
	socket string
	to     string

	mu    sync.Mutex
	conns []net.Conn
}

func startRelay(t testing.TB, to string) *relay {
	t.Helper()
	r := &relay{socket: filepath.Join(t.TempDir(), "s"), to: to}
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { r.pass(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.all()
		served.Wait()
	})
	return r
}

func (r *relay) pass(client net.Conn) {
	defer client.Close()
	engine, err := net.Dial("unix", r.to)
	if err != nil {
		return
	}
	defer engine.Close()
	r.mu.Lock()
	r.conns = append(r.conns, client, engine)
	r.mu.Unlock()
	var done sync.WaitGroup
	done.Go(func() { copyHalf(engine, client) })
	done.Go(func() { copyHalf(client, engine) })
	done.Wait()
}

// copyHalf copies one direction and hands its end on: docker closes its side of an exec
// without input at once.
func copyHalf(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.(*net.UnixConn).CloseWrite()
}

// all cuts every connection there is; new ones pass.
func (r *relay) all() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}
