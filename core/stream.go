package core

import (
	"context"

	"simplex/llm"
	"simplex/state"
	"simplex/wire"
)

// maxDelta bounds the text that waits for a place in the outbox, and so one model_delta.
const maxDelta = 16 << 10

// streaming is the provider as a task's run sees it: with model_delta where the Hub
// asked for it.
type streaming struct{ app *Application }

func (s streaming) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	req := llm.Request{State: conv}
	if s.app.streams.Load() {
		d := &deltas{app: s.app}
		req.Delta = d.add
	}
	return s.app.provider.Exchange(ctx, req)
}

// deltas turns the pieces of one exchange into model_delta events: one waits in the
// outbox at a time, and what comes meanwhile is joined to the next. What finds no place
// is dropped; model_response has the whole answer.
type deltas struct {
	app     *Application
	kind    string
	pending string
	over    bool // a repeated try would tell its beginning twice
}

func (d *deltas) add(piece llm.Delta) {
	if piece.Kind == llm.DeltaRestart {
		d.over, d.pending = true, ""
	}
	if d.over {
		return
	}
	if piece.Kind != d.kind {
		d.flush()
		d.kind, d.pending = piece.Kind, ""
	}
	if len(d.pending)+len(piece.Text) <= maxDelta {
		d.pending += piece.Text
	}
	d.flush()
}

func (d *deltas) flush() {
	if d.pending != "" && d.app.announceDelta(wire.ModelDelta{Kind: d.kind, Text: d.pending}) {
		d.pending = ""
	}
}

// announceDelta publishes a piece, or says that none can go out now.
func (a *Application) announceDelta(d wire.ModelDelta) bool {
	raw, err := wire.EncodeData(d)
	if err != nil {
		return false
	}
	at := *a.current.Load()
	return a.outbox.offer(wire.Event{
		Name: wire.EventModelDelta, EventIDs: wire.EventIDs{
			SessionID: a.session.id, WorkerID: a.workerID, RequestID: at.requestID, RunID: at.runID,
		}, Data: raw,
	})
}
