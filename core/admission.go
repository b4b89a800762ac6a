package core

import (
	"context"
	"encoding/json/jsontext"
	"errors"

	"simplex/core/compact"
	"simplex/state"
	"simplex/wire"
)

// remembered is the window of request ids that were admitted (worker-data.md §3.7).
type remembered struct {
	ids  map[string]struct{}
	ring []string
	next int
}

func newRemembered() *remembered {
	return &remembered{ids: make(map[string]struct{}), ring: make([]string, 0, 64)}
}

func (r *remembered) has(id string) bool {
	_, ok := r.ids[id]
	return ok
}

// add remembers id; the oldest is forgotten when the window is full.
func (r *remembered) add(id string) {
	r.ids[id] = struct{}{}
	if len(r.ring) < wire.RememberedRequests {
		r.ring = append(r.ring, id)
		return
	}
	delete(r.ids, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % len(r.ring)
}

func (r *remembered) empty() bool { return len(r.ids) == 0 }

// serve takes inputs one at a time until ctx ends or the worker cannot go on. It is the
// executor: the only goroutine that touches the state.
func (a *Application) serve(ctx context.Context) error {
	for {
		frame, err := a.router.NextPayload(ctx)
		if err != nil || ctx.Err() != nil { // stopping: what waits is not begun
			return nil
		}
		if err := a.handle(ctx, frame); err != nil {
			return err
		}
	}
}

// handle admits or rejects one payload, in the order of wire.md §3: whole payload,
// duplicate id, recovery, options.
func (a *Application) handle(ctx context.Context, frame wire.Frame) error {
	req, rejected := wire.DecodeInput(frame.Data)
	if rejected != nil {
		if rejected.RequestID.IsNull() { // the data as a whole could not be read
			rejected = wire.NewInputRejected(frame.RequestID, frame.Operation, string(rejected.Message), rejected.Code)
		}
		return a.reject(rejected)
	}
	if err := a.precondition(req); err != nil {
		return a.reject(rejection(req, err, ""))
	}
	mode, err := a.applyOptions(req.Options)
	if err != nil {
		return a.reject(rejection(req, err, wire.CodeInvalidOptions))
	}
	if err := a.drained(ctx); err != nil {
		return nil // the worker stops, or its connection did
	}
	a.seen.add(req.RequestID)
	runID := a.newID()
	runCtx, run, err := a.beginRun(req, mode, runID)
	defer run.stop()
	defer a.runs.end()
	if err != nil {
		return err
	}
	return a.perform(runCtx, req, run)
}

var (
	errDuplicate = errors.New("this request_id was admitted before")
	errNoTurns   = errors.New("there is no conversation to continue")
	errBroken    = errors.New("storage failed; nothing runs any more")
)

func (a *Application) precondition(req *wire.Input) error {
	st := a.session.st
	switch {
	case a.session.broken.Load():
		return errBroken
	case a.seen.has(req.RequestID):
		return errDuplicate
	case recoverable(st.Loop) != nil:
		return a.session.recovery()
	case req.Operation == wire.OpCompact:
		return a.compactor.Check(st)
	case req.Operation == wire.OpContinue && len(st.Turns) == 0 && !compact.CanResume(st):
		return errNoTurns
	}
	return nil
}

// applyOptions applies all of the options or none: the confirmation part is only taken
// over once the provider accepted its own, which is atomic in itself.
func (a *Application) applyOptions(o wire.Options) (wire.Mode, error) {
	mode := a.modeNow()
	if o.Mode != "" {
		mode = o.Mode
	}
	if o.Model.IsSet() {
		if err := a.provider.SetOptions(o.Model); err != nil {
			return "", err
		}
	}
	a.setMode(mode)
	return mode, nil
}

// reject reports an input that was not admitted. Its loss under pressure is counted.
func (a *Application) reject(r *wire.InputRejected) error {
	return a.announceAt(place{requestID: r.EnvelopeID()}, feedback, wire.EventInputRejected, r)
}

func rejection(req *wire.Input, err error, code string) *wire.InputRejected {
	id := jsontext.Value(state.StringValue(req.RequestID).Bytes())
	op := jsontext.Value(state.StringValue(string(req.Operation)).Bytes())
	return wire.NewInputRejected(id, op, err.Error(), code)
}
