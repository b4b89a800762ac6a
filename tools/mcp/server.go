package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"simplex/tools"
)

// server is the MCP server over all its lives. One goroutine, supervise, ends and
// starts processes; calls look at what is current.
type server struct {
	cfg Config

	mu      sync.Mutex
	current *connection // nil while it is down
	down    string      // why, and what happens next

	stop  chan struct{} // closed: no more lives
	hurry chan struct{} // closed: no more grace
	done  chan struct{} // closed: supervise has ended
	left  error         // what could not be ended; after done
}

func newServer(cfg Config, first *connection) *server {
	s := &server{
		cfg: cfg, current: first,
		stop: make(chan struct{}), hurry: make(chan struct{}), done: make(chan struct{}),
	}
	go s.supervise(first)
	return s
}

// supervise lives through the server's lives.
func (s *server) supervise(c *connection) {
	defer close(s.done)
	restarts := 0
	for c != nil {
		reason, err := c.watch(s.stop, s.hurry, s.cfg.Grace)
		if err != nil {
			s.left = err
			s.cfg.Logger.Error("server could not be ended", "error", err)
		}
		if s.stopping() {
			s.set(nil, "its server was shut down")
			return
		}
		s.cfg.Logger.Warn("server ended", "reason", reason)
		c = s.restart(reason, &restarts)
	}
}

// restart tries until the server runs, the attempts are used up or the end comes.
func (s *server) restart(reason string, used *int) *connection {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	for *used < s.cfg.MaxRestarts {
		*used++
		pause := min(s.cfg.Backoff<<min(*used-1, 16), maxBackoff)
		s.set(nil, fmt.Sprintf("its server does not run: %s. It is being started again (%d of %d); try again in a while",
			reason, *used, s.cfg.MaxRestarts))
		if !sleep(ctx, pause) {
			break
		}
		c, err := connect(ctx, s.cfg)
		if err == nil {
			s.cfg.Logger.Info("server runs again", "restart", *used)
			s.set(c, "")
			return c
		}
		s.cfg.Logger.Error("server could not be started again", "restart", *used, "error", err)
		reason = err.Error()
	}
	if !s.stopping() {
		s.cfg.Logger.Error("server is given up; its tools answer errors from now on", "restarts", *used)
	}
	s.set(nil, fmt.Sprintf("its server does not run: %s. It will not be started again", reason))
	return nil
}

// sleep tells whether the whole time went by.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *server) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

func (s *server) set(c *connection, down string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.down = c, down
}

// live gives the current life, or the failure to answer a call with.
func (s *server) live() (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.down
	if s.current != nil {
		if !s.current.isOver() {
			return s.current, nil
		}
		why = "its server has just ended; try again in a while"
	}
	return nil, &tools.Failure{Message: fmt.Sprintf("toolset %s cannot be used: %s", s.cfg.Name, why)}
}

// shutdown ends the server for good. The end of ctx cuts the grace time short. It may
// be called once.
func (s *server) shutdown(ctx context.Context) error {
	close(s.stop)
	stop := context.AfterFunc(ctx, func() { close(s.hurry) })
	defer stop()
	<-s.done
	return s.left
}
