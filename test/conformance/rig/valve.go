package rig

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
)

// Valve is a TCP hop between worker and Hub that can stop what passes from the worker
// without closing anything, and can turn connections away.
type Valve struct {
	target   string
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	shut   chan struct{} // not nil while frozen; closed by Thaw
	answer []string      // to the next connections instead of passing them on
	open   map[net.Conn]struct{}
	ended  bool
	count  int
	change chan struct{} // closed and replaced at each new connection
}

// valveBuffer keeps the kernel from hiding a reader that stopped.
const valveBuffer = 16 << 10

// NewValve listens on loopback and passes connections to target (host:port). l may be
// given instead of loopback.
func NewValve(t testing.TB, l net.Listener, target string) *Valve {
	t.Helper()
	if l == nil {
		cfg := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			var err error
			return firstOf(c.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, valveBuffer)
			}), err)
		}}
		var err error
		if l, err = cfg.Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	v := &Valve{target: target, listener: l, open: make(map[net.Conn]struct{}), change: make(chan struct{})}
	v.serving.Go(v.serve)
	t.Cleanup(v.close)
	return v
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Addr is where the worker connects, host:port.
func (v *Valve) Addr() string { return v.listener.Addr().String() }

// Freeze stops all bytes from the worker; they pile up in its socket.
func (v *Valve) Freeze() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shut == nil {
		v.shut = make(chan struct{})
	}
}

// Thaw lets everything pass again.
func (v *Valve) Thaw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shut != nil {
		close(v.shut)
		v.shut = nil
	}
}

// Answer makes the next connections read one HTTP request each and get these bytes, then
// the end; "" is an end without a word.
func (v *Valve) Answer(raw ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answer = append(v.answer, raw...)
}

// Cut ends all connections.
func (v *Valve) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for c := range v.open {
		_ = c.Close()
	}
}

// Connections waits for the n-th connection over the valve's life.
func (v *Valve) Connections(t testing.TB, n int) {
	t.Helper()
	ctx := Deadline(t)
	for {
		v.mu.Lock()
		count, change := v.count, v.change
		v.mu.Unlock()
		if count >= n {
			return
		}
		select {
		case <-change:
		case <-ctx.Done():
			t.Fatalf("%d connections, want %d", count, n)
		}
	}
}

func (v *Valve) close() {
	_ = v.listener.Close()
	v.mu.Lock()
	v.ended = true
	v.mu.Unlock()
	v.Thaw()
	v.Cut()
	v.serving.Wait()
}

func (v *Valve) serve() {
	for {
		c, err := v.listener.Accept()
		if err != nil {
			return
		}
		v.serving.Go(func() { v.pass(c) })
	}
}

// enter registers a connection; false once the valve is closed.
func (v *Valve) enter(c net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return false
	}
	v.open[c] = struct{}{}
	return true
}

func (v *Valve) leave(c net.Conn) {
	_ = c.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.open, c)
}

// next counts a connection and gives the answer that turns it away, if there is one.
func (v *Valve) next() (raw string, away bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.count++
	close(v.change)
	v.change = make(chan struct{})
	if len(v.answer) == 0 {
		return "", false
	}
	raw, v.answer = v.answer[0], v.answer[1:]
	return raw, true
}

func (v *Valve) pass(worker net.Conn) {
	defer v.leave(worker)
	if !v.enter(worker) {
		return
	}
	if raw, away := v.next(); away {
		if raw != "" {
			_, _ = http.ReadRequest(bufio.NewReader(worker))
			_, _ = io.WriteString(worker, raw)
		}
		return
	}
	hub, err := net.Dial("tcp", v.target)
	if err != nil {
		return
	}
	defer v.leave(hub)
	if !v.enter(hub) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(worker, hub)
		_ = worker.Close()
	})
	v.forward(hub, worker)
	_ = hub.Close()
	back.Wait()
}

func (v *Valve) forward(hub, worker net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := worker.Read(buf)
		v.wait()
		if _, e := hub.Write(buf[:n]); e != nil || err != nil {
			return
		}
	}
}

func (v *Valve) wait() {
	for {
		v.mu.Lock()
		shut := v.shut
		v.mu.Unlock()
		if shut == nil {
			return
		}
		<-shut
	}
}
