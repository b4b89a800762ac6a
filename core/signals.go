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

// serveSignals answers signals one at a time, also while a run is under way and while the
// worker stops: a Hub that asks for the status would fill the queue otherwise.
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
		a.tellStatus()
	case wire.OpOptions:
		_ = a.announce(metadata, wire.EventOptions, a.options())
	case wire.OpShutdown:
		stop(errShutdown)
		a.halt() // so that the next status tells of it
	case wire.OpStream:
		a.streams.Store(sig.Enabled)
	}
}

// tellStatus never admits a status that tells of a run before its input_admitted or after
// its run_finished. One that waits already is replaced in place by what is true later.
func (a *Application) tellStatus() {
	a.telling.Lock()
	defer a.telling.Unlock()
	_ = a.announce(metadata, wire.EventStatus, a.status())
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
			_ = a.announce(feedback, f.Query.Event(), f.Query)
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
			a.query(frame)
		case <-ctx.Done():
			return
		}
	}
}

// query answers one query from the session as it stands now.
func (a *Application) query(frame wire.Frame) {
	q, failed := wire.DecodeQuery(frame.Data)
	if failed != nil {
		a.queryFailed(failed)
		return
	}
	snap := a.session.snap.Load()
	if q.History != nil {
		page, err := a.pager.History(snap.state, snap.revision, q.RequestID, *q.History)
		if err != nil {
			a.queryFailed(wire.NewQueryFailed(wire.OpHistory, frame.RequestID, err.Error(), ""))
			return
		}
		_ = a.announce(query, wire.EventHistory, page)
		return
	}
	page, err := a.pager.Answer(snap.state, q.RequestID, *q.Answer)
	if err != nil {
		a.queryFailed(wire.NewQueryFailed(wire.OpAnswer, frame.RequestID, err.Error(), ""))
		return
	}
	_ = a.announce(query, wire.EventAnswer, page)
}

func (a *Application) queryFailed(f *wire.QueryFailed) {
	_ = a.announce(query, f.Event(), f)
}
