package chat

import (
	"context"

	"simplex/hub/adapter"
	"simplex/wire"
)

// question is one call that waits for the operator.
type question struct {
	ctx   context.Context // ends when the worker gave up
	req   *wire.ConfirmRequest
	reply chan<- adapter.Decision
}

// operator hands what the worker says to the conversation's goroutine. A full channel
// holds the connection back; done releases it at the end.
type operator struct {
	events    chan *wire.Received
	questions chan question
	done      <-chan struct{}
}

func newOperator(done <-chan struct{}) *operator {
	return &operator{events: make(chan *wire.Received, 64), questions: make(chan question), done: done}
}

// Connected implements adapter.Handler; the first status tells more.
func (o *operator) Connected() {}

// Disconnected implements adapter.Handler; the worker reconnects by itself.
func (o *operator) Disconnected() {}

// Event implements adapter.Handler.
func (o *operator) Event(e *wire.Received) {
	select {
	case o.events <- e:
	case <-o.done:
	}
}

// Confirm implements adapter.Handler.
func (o *operator) Confirm(ctx context.Context, req *wire.ConfirmRequest) adapter.Decision {
	reply := make(chan adapter.Decision, 1)
	select {
	case o.questions <- question{ctx, req, reply}:
	case <-ctx.Done():
		return adapter.Decision{}
	case <-o.done:
		return adapter.Decision{Reason: "the operator left"}
	}
	select {
	case d := <-reply:
		return d
	case <-ctx.Done():
		return adapter.Decision{}
	case <-o.done:
		return adapter.Decision{Reason: "the operator left"}
	}
}
