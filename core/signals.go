package core

import (
	"context"

	"simplex/wire"
)

// receive takes one frame from the Hub on the connection's goroutine. A cancel acts at
// once, ahead of the signals that wait; it is queued, too, so that the status which
// answers it comes in its turn.
func (a *Application) receive(frame wire.Frame) {
	if frame.Kind != wire.FrameSignal || frame.Op() != wire.OpCancel {
		return
	}
	if sig, err := wire.DecodeSignal(frame.Data); err == nil {
		a.runs.cancel(sig.RunID)
	}
}

// serveSignals answers signals one at a time, also while a run is under way.
func (a *Application) serveSignals(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		select {
		case frame := <-a.router.Signals():
			a.signal(frame, stop)
		case <-ctx.Done():
			return
		}
	}
}

func (a *Application) signal(frame wire.Frame, stop context.CancelCauseFunc) {
	sig, err := wire.DecodeSignal(frame.Data)
	if err != nil {
		a.announceError(err.Error())
		return
	}
	switch sig.Operation {
	case wire.OpStatus, wire.OpCancel:
		_ = a.announce(metadata, wire.EventStatus, a.status())
	case wire.OpOptions:
		_ = a.announce(metadata, wire.EventOptions, a.options())
	case wire.OpShutdown:
		stop(errShutdown)
	case wire.OpStream:
		a.announceError("signal: operation: this worker does not offer model-stream")
	}
}

// serveFeedback reports what the router had to refuse before it reached a queue.
func (a *Application) serveFeedback(ctx context.Context) {
	for {
		select {
		case f := <-a.router.Feedback():
			if f.Input != nil {
				_ = a.reject(f.Input)
				continue
			}
			_ = a.announceAt(place{requestID: f.Query.EnvelopeID()}, feedback, f.Query.Event(), f.Query)
		case <-ctx.Done():
			return
		}
	}
}

// serveQueries answers queries, which change nothing, beside everything else.
func (a *Application) serveQueries(ctx context.Context) {
	for {
		select {
		case frame := <-a.router.Queries():
			failed := wire.NewQueryFailed(frame.Op(), frame.RequestID, "this worker does not offer this query", "")
			_ = a.announceAt(place{requestID: failed.EnvelopeID()}, query, failed.Event(), failed)
		case <-ctx.Done():
			return
		}
	}
}
