package core

import (
	"context"

	"simplex/internal/text"
	"simplex/llm"
	"simplex/state"
	"simplex/wire"
)

// maxDelta bounds the text of one model_delta.
const maxDelta = 16 << 10

// streaming is the provider as a task's run sees it: with model_delta where the Hub
// asked for it.
type streaming struct{ app *Application }

func (s streaming) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	s.app.session.show(conv) // a status during the call tells phase model
	req := llm.Request{State: conv}
	if s.app.streams.Load() {
		d := &deltas{app: s.app}
		req.Delta = d.add
	}
	return s.app.provider.Exchange(ctx, req)
}

// deltas turns the pieces of one exchange into model_delta events. What finds no place is
// dropped; model_response has the whole answer.
type deltas struct {
	app  *Application
	over bool // a repeated try would tell its beginning twice
}

func (d *deltas) add(piece llm.Delta) {
	if piece.Kind == llm.DeltaRestart {
		d.over = true
	}
	if d.over || piece.Text == "" {
		return
	}
	at := *d.app.current.Load()
	event := wire.Event{Name: wire.EventModelDelta, EventIDs: wire.EventIDs{
		SessionID: d.app.session.id, WorkerID: d.app.workerID, RequestID: at.requestID, RunID: at.runID,
	}}
	for rest := piece.Text; rest != ""; {
		part := text.Prefix(rest, maxDelta) // a server may send the whole answer at once
		if part == "" || !d.app.outbox.offer(event, wire.ModelDelta{Kind: piece.Kind, Text: part}) {
			return
		}
		rest = rest[len(part):]
	}
}
