package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"simplex/internal/program"
)

// connection is one life of the server: its process and the session with it.
type connection struct {
	program *program.Child
	session *sdk.ClientSession
	over    chan struct{} // closed when the session has ended
}

// connect starts the server and shakes hands with it. On failure nothing is left.
func connect(ctx context.Context, cfg Config) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	p, err := startProgram(cfg)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "simplex", Version: cfg.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	stop := context.AfterFunc(ctx, func() { _ = p.Stdout.Close() }) // whatever the SDK waits for
	session, err := client.Connect(ctx, &sdk.IOTransport{
		Reader: p.Stdout, Writer: timedWriter{p.Stdin}, MaxLineLength: cfg.MaxMessageBytes,
	}, nil)
	stopped := stop()
	if err == nil && !stopped {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(startFailure(ctx, p, err, cfg), p.End(cfg.Grace, ctx.Done()))
	}
	c := &connection{program: p, session: session, over: make(chan struct{})}
	go func() {
		defer close(c.over)
		_ = session.Wait()
	}()
	return c, nil
}

// startFailure says what went wrong, and that the server ended where it did.
func startFailure(ctx context.Context, p *program.Child, err error, cfg Config) error {
	if ctx.Err() != nil {
		return fmt.Errorf("start: no answer within %s: %w", cfg.StartTimeout, context.Cause(ctx))
	}
	if p.Ending(nil) {
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
	case <-c.over:
		// The stream ends a moment before the process does; tell of the latter if it comes.
		if c.program.Ending(stop) {
			reason = "it " + describe(c.program.Status())
		} else {
			reason = "it broke the connection, or the protocol, and was ended"
		}
	case <-stop:
		reason = "it was shut down"
	}
	err = c.program.End(grace, hurry)
	<-c.over // its streams are closed
	_ = c.session.Close()
	return reason, err
}

// tools lists what the server offers, at most maxTools.
func (c *connection) tools(ctx context.Context) ([]*sdk.Tool, error) {
	var out []*sdk.Tool
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		if len(out) == maxTools {
			return nil, fmt.Errorf("list tools: the server has more than %d", maxTools)
		}
		out = append(out, tool)
	}
	return out, nil
}
