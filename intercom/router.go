package intercom

import (
	"context"
	"fmt"
	"sync/atomic"

	"simplex/wire"
)

// RouterConfig sizes the queues, in entries; 0 stands for the defaults of package wire.
type RouterConfig struct {
	Payloads, Signals, Queries int
	// Inspect sees each frame before it is queued, on the goroutine of Handle: for what
	// must act ahead of the queues. It must not block. nil: nobody looks.
	Inspect func(wire.Frame)
}

// Router sorts the frames of a Hub into bounded queues (tools.md §5.5). Its Handle is a
// Client's handler and belongs to one goroutine; the queues may be read from others.
type Router struct {
	decoder  wire.FrameDecoder
	inspect  func(wire.Frame)
	payloads chan wire.Frame
	queries  chan wire.Frame
	signals  chan wire.Frame
	feedback chan Feedback

	payloadBytes                            atomic.Int64 // of the payloads that wait
	payloadNext                             atomic.Bool
	rejectedPayloads, rejectedQueries, lost atomic.Uint64
}

// Feedback is a rejection that the worker has to report; exactly one field is set.
type Feedback struct {
	Input *wire.InputRejected
	Query *wire.QueryFailed
}

// ID is the request_id for the event's envelope; "" when there is none to name.
func (f Feedback) ID() string {
	if f.Input != nil {
		return f.Input.EnvelopeID()
	}
	return f.Query.EnvelopeID()
}

// Event is the name of the event that reports the rejection.
func (f Feedback) Event() wire.EventName {
	if f.Input != nil {
		return wire.EventInputRejected
	}
	return f.Query.Event()
}

// Data is the event's data, to be encoded by wire.EncodeData.
func (f Feedback) Data() any {
	if f.Input != nil {
		return f.Input
	}
	return f.Query
}

// Counters are the rejections so far, for the status object.
type Counters struct {
	RejectedPayloads, RejectedQueries, UnreportedRejections uint64
}

// NewRouter makes the queues. The feedback mailbox is as large as the query queue.
func NewRouter(cfg RouterConfig) *Router {
	queries := or(cfg.Queries, wire.QueryCapacity)
	return &Router{
		inspect:  cfg.Inspect,
		payloads: make(chan wire.Frame, or(cfg.Payloads, wire.PayloadCapacity)),
		signals:  make(chan wire.Frame, or(cfg.Signals, wire.SignalCapacity)),
		queries:  make(chan wire.Frame, queries),
		feedback: make(chan Feedback, queries),
	}
}

// Handle routes one message, which the frame keeps. It never blocks. A *wire.FrameError
// or ErrSignalsFull means that the connection must end for good.
func (r *Router) Handle(message []byte) error {
	f, err := r.decoder.Decode(message)
	if err != nil {
		return err
	}
	if r.inspect != nil {
		r.inspect(f)
	}
	if f.Kind == wire.FrameSignal {
		if !offer(r.signals, f) {
			return fmt.Errorf("%w: %d entries", ErrSignalsFull, cap(r.signals))
		}
		return nil
	}
	if op := f.Op(); op.IsQuery() {
		r.query(op, f)
		return nil
	}
	if !r.enqueue(f) {
		r.rejectedPayloads.Add(1)
		r.report(Feedback{Input: wire.NewInputRejected(f.RequestID, f.Operation,
			"the payload queue is full", wire.CodePayloadFull)})
	}
	return nil
}

// enqueue bounds the payloads that wait in entries and in bytes.
func (r *Router) enqueue(f wire.Frame) bool {
	size := int64(f.Size)
	if r.payloadBytes.Add(size) <= wire.PayloadBytes && offer(r.payloads, f) {
		return true
	}
	r.payloadBytes.Add(-size)
	return false
}

func (r *Router) query(op wire.Operation, f wire.Frame) {
	var failed *wire.QueryFailed
	switch {
	case f.Size > wire.MaxQueryFrame:
		failed = wire.NewQueryFailed(op, f.RequestID, "the query is too large", wire.CodeQueryTooLarge)
	case !offer(r.queries, f):
		failed = wire.NewQueryFailed(op, f.RequestID, "the query queue is full", wire.CodeQueryFull)
	default:
		return
	}
	r.rejectedQueries.Add(1)
	r.report(Feedback{Query: failed})
}

func (r *Router) report(f Feedback) {
	if !offer(r.feedback, f) {
		r.lost.Add(1)
	}
}

// NextPayload waits for a payload. There is one subscriber: a second call while one is
// outstanding is ErrOutstandingNext.
func (r *Router) NextPayload(ctx context.Context) (wire.Frame, error) {
	if r.payloadNext.Swap(true) {
		return wire.Frame{}, ErrOutstandingNext
	}
	defer r.payloadNext.Store(false)
	select {
	case f := <-r.payloads:
		r.payloadBytes.Add(-int64(f.Size))
		return f, nil
	case <-ctx.Done():
		return wire.Frame{}, context.Cause(ctx)
	}
}

// Waiting is the number of payloads in the queue.
func (r *Router) Waiting() int { return len(r.payloads) }

// Queries is the queue of history and answer requests.
func (r *Router) Queries() <-chan wire.Frame { return r.queries }

// Signals is the signal queue.
func (r *Router) Signals() <-chan wire.Frame { return r.signals }

// Feedback is the mailbox of rejections.
func (r *Router) Feedback() <-chan Feedback { return r.feedback }

// Counters gives the rejections so far.
func (r *Router) Counters() Counters {
	return Counters{r.rejectedPayloads.Load(), r.rejectedQueries.Load(), r.lost.Load()}
}

func offer[T any](queue chan<- T, v T) bool {
	select {
	case queue <- v:
		return true
	default:
		return false
	}
}
