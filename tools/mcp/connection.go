package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"simplex/internal/program"
	"simplex/internal/text"
	"simplex/tools/mcp/client"
)

// connection is one life of the server: its process and the session with it.
type connection struct {
	program *program.Child
	session *client.Session
}

// connect starts the server and shakes hands with it. On failure nothing is left.
func connect(ctx context.Context, cfg Config) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	p, err := startProgram(cfg)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	session, err := client.Connect(ctx, client.Config{
		In: p.Stdout, Out: timedWriter{p.Stdin},
		Version: cfg.Version, MaxMessageBytes: cfg.MaxMessageBytes, Logger: cfg.Logger,
	})
	if err != nil {
		failure := startFailure(ctx, p, err, cfg)
		end := p.End(cfg.Grace, ctx.Done())
		if words := scrubbed(p.LastWords(), cfg.Environment); words != "" {
			failure = fmt.Errorf("%w; it said: %s", failure, words)
		}
		return nil, errors.Join(failure, end)
	}
	return &connection{program: p, session: session}, nil
}

// scrubbed takes the values of an environment out of what a server said: some print it all.
func scrubbed(words string, environment []string) string {
	const least = 8 // shorter values are words, numbers and places
	for _, e := range environment {
		if _, value, _ := strings.Cut(e, "="); len(value) >= least {
			words = strings.ReplaceAll(words, text.Display(value), "[redacted]")
		}
	}
	return words
}

// startFailure says what went wrong, and that the server ended where it did.
func startFailure(ctx context.Context, p *program.Child, err error, cfg Config) error {
	if ctx.Err() != nil {
		return fmt.Errorf("start: no answer within %s: %w", cfg.StartTimeout, context.Cause(ctx))
	}
	if errors.Is(err, client.ErrLost) && p.Ending(nil) {
		return fmt.Errorf("start: the server %s: %w", describe(p.Status()), err)
	}
	return fmt.Errorf("start: %w", err)
}

// describe words how a process ended.
func describe(status error) string {
	if status == nil {
		return "ended with exit status 0"
	}
	return "ended: " + status.Error()
}

// watch returns when this life is over or stop is closed, with the reason, and after
// the process and its group have ended.
func (c *connection) watch(stop, hurry <-chan struct{}, grace time.Duration) (reason string, err error) {
	select {
	case <-c.program.Exited():
		reason = "it " + describe(c.program.Status())
	case <-c.session.Done():
		reason = c.lost(stop)
	case <-stop:
		reason = "it was shut down"
	}
	err = c.program.End(grace, hurry)
	c.session.Close()
	return reason, err
}

// lost tells why the session ended while the process still seemed to run.
func (c *connection) lost(stop <-chan struct{}) string {
	why := c.session.Err()
	if errors.Is(why, client.ErrProtocol) {
		return "it was ended: " + why.Error()
	}
	// The stream ends a moment before the process does; tell of the latter if it comes.
	if c.program.Ending(stop) {
		return "it " + describe(c.program.Status())
	}
	return "it was ended: " + why.Error()
}
