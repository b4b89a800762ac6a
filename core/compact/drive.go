package compact

import (
	"context"
	"fmt"

	"simplex/loop"
	"simplex/state"
)

// The operations that a failure is laid to (run_finished.failure.operation).
const (
	OperationTask        = "task"
	OperationCompact     = "compact"
	OperationAutoCompact = "auto_compact"
)

// Cycle is one automatic compaction of a request.
type Cycle struct {
	Trigger Trigger
	Call    state.Call // the pseudo call
}

// Host is what the automatic loop asks of the application. Its methods are called one
// after the other on the goroutine of Drive.
type Host interface {
	// Segment runs the loop on the session until it ends, with a fresh exchange count.
	Segment(ctx context.Context, input *state.Message) loop.Outcome
	// Called announces the pseudo call (tool_calls).
	Called(call state.Call) error
	// Compact makes the compaction with the automatic prompt and, where it completed,
	// announces compact_finished.
	Compact(ctx context.Context, c Cycle) Outcome
	// Returned announces the pseudo result (tool_results).
	Returned(result state.Result) error
	// Continuation is the internal message with which the request goes on.
	Continuation() (*state.Message, error)
	// NewID gives a fresh UUID.
	NewID() string
}

// Settlement is how a whole request ended: the parts of run_finished that come from its
// segments and compactions.
type Settlement struct {
	Status           state.LoopStatus // completed, cancelled, exchange_limit or failed
	Err              error
	Stage            loop.Stage // set exactly when Status is failed
	Operation        string     // which part ended it
	TaskExchanges    uint64
	CompactExchanges uint64
	LastSegment      loop.Outcome
}

// Drive takes one request through its segments and the compactions between them (§3.9).
// With a threshold of 0 the loop never asks for a compaction and this is one segment.
func (a *Auto) Drive(ctx context.Context, h Host, input *state.Message) Settlement {
	var s Settlement
	for {
		seg := h.Segment(ctx, input)
		s.LastSegment = seg
		s.TaskExchanges += seg.Exchanges
		if seg.Status != state.StatusAutoCompactRequired {
			s.Status, s.Err, s.Stage, s.Operation = seg.Status, seg.Err, seg.Stage, OperationTask
			return s
		}
		out, err := a.cycle(ctx, h, seg)
		s.CompactExchanges += out.Exchanges
		s.Status, s.Err, s.Stage, s.Operation = out.Status, out.Err, out.Stage, OperationAutoCompact
		if err != nil {
			s.Status, s.Err, s.Stage = state.StatusFailed, err, loop.StageOther
		}
		if s.Status != state.StatusCompleted {
			return s
		}
		if input, err = h.Continuation(); err != nil {
			s.Status, s.Err, s.Stage = state.StatusFailed, err, loop.StageOther
			return s
		}
	}
}

// cycle makes one compaction between two announcements. Its error is the controller's; a
// compaction that failed is in the outcome.
func (a *Auto) cycle(ctx context.Context, h Host, seg loop.Outcome) (Outcome, error) {
	trigger, err := a.Admit(seg)
	if err != nil {
		return Outcome{}, err
	}
	call, err := PseudoCall(h.NewID(), trigger)
	if err != nil {
		return Outcome{}, err
	}
	if err := h.Called(call); err != nil {
		return Outcome{}, fmt.Errorf("automatic compaction: %w", err)
	}
	out := h.Compact(ctx, Cycle{trigger, call})
	if out.Status == state.StatusCompleted {
		a.Succeed()
	}
	if err := h.Returned(PseudoResult(call, out)); err != nil {
		return out, fmt.Errorf("automatic compaction: %w", err)
	}
	return out, nil
}
