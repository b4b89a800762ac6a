package core

import (
	"context"
	"errors"
	"fmt"

	"simplex/core/compact"
	"simplex/llm"
	"simplex/loop"
	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
)

// request is one admitted input: one or more segments of the loop, with automatic
// compactions between them, or a compaction by hand. It is the compact.Host of its run.
type request struct {
	app     *Application
	ids     wire.Execution
	scope   *confirmScope
	auto    *compact.Auto
	durable bool // whether what was last told to be over is on disk

	refused error // that the model refused the context as too long; once is tried to help
}

func (a *Application) newRequest(req *wire.Input, runID string, scope *confirmScope) *request {
	r := &request{
		app: a, scope: scope,
		ids: wire.Execution{WorkerID: a.workerID, RequestID: req.RequestID, RunID: runID},
		auto: compact.NewAuto(compact.AutoConfig{
			Threshold: a.worker.AutoCompactThreshold, MaxExchanges: a.worker.MaxExchanges, Limit: a.worker.MaxAutoCompactions,
		}),
	}
	a.auto.Store(r.auto)
	a.observer.begin()
	return r
}

// perform takes the request to its end.
func (r *request) perform(ctx context.Context, req *wire.Input) compact.Settlement {
	switch {
	case req.Operation == wire.OpCompact:
		return r.compactByHand(ctx)
	case req.Operation == wire.OpMessage:
		return r.drive(ctx, &state.Message{Type: state.UserInput, Role: "user", Content: req.Content})
	case len(r.app.session.st.Turns) > 0:
		return r.drive(ctx, nil)
	}
	input, err := r.Continuation()
	if err != nil {
		return compact.Settlement{Status: state.StatusFailed, Err: err, Stage: loop.StageOther, Operation: compact.OperationTask}
	}
	return r.drive(ctx, input)
}

// drive runs the segments. Where a compaction could not help against a context that is
// too long, the model's refusal is the cause to name.
func (r *request) drive(ctx context.Context, input *state.Message) compact.Settlement {
	end := r.auto.Drive(ctx, r, input)
	if end.Status == state.StatusCancelled && end.Operation == compact.OperationAutoCompact {
		r.durable = r.app.observer.cancelled()
	}
	if r.refused != nil && end.Err != nil && end.Operation == compact.OperationAutoCompact {
		end.Err = fmt.Errorf("%w; the compaction against it: %w", r.refused, end.Err)
	}
	return end
}

// Segment implements compact.Host.
func (r *request) Segment(ctx context.Context, input *state.Message) loop.Outcome {
	a := r.app
	execution, _ := state.ObjectOf(map[string]any{"simplex.execution": map[string]string{
		"worker_id": r.ids.WorkerID, "request_id": r.ids.RequestID, "run_id": r.ids.RunID,
	}})
	out := loop.Run(ctx, a.session.st, input, loop.Config{
		Model:        streaming{a},
		Tools:        toolbox{registry: a.tools, ctx: a.toolCtx},
		Confirm:      r.scope.confirm,
		Hooks:        a.hooks,
		MaxExchanges: a.worker.MaxExchanges,
		Threshold:    a.worker.AutoCompactThreshold,
		StepExtras:   execution,
		Logger:       a.logger,
	})
	if durable := a.observer.settle(out); out.Admitted {
		r.durable = durable
	}
	return r.relieved(out)
}

// relieved asks for one compaction where the model refused the conversation as too long:
// the same request would be refused again.
func (r *request) relieved(out loop.Outcome) loop.Outcome {
	refused, ok := errors.AsType[*llm.Error](out.Err)
	if !ok || !refused.ContextExceeded() || r.app.worker.AutoCompactThreshold == 0 || r.refused != nil {
		return out
	}
	r.refused = out.Err
	out.Status, out.Reason = state.StatusAutoCompactRequired, loop.ReasonTokenThreshold
	out.Err, out.Stage = nil, ""
	return out
}

// Called implements compact.Host.
func (r *request) Called(call state.Call) error {
	return r.app.announceCalls([]state.Call{call})
}

// Returned implements compact.Host.
func (r *request) Returned(result state.Result) error {
	return r.app.announceResults([]state.Result{result})
}

// NewID implements compact.Host.
func (r *request) NewID() string { return r.app.newID() }

// Continuation implements compact.Host.
func (r *request) Continuation() (*state.Message, error) {
	text, err := r.app.prompts.Continue.Text()
	if err != nil {
		return nil, err
	}
	return compact.ContinueMessage(text, r.ids), nil
}

// Compact implements compact.Host.
func (r *request) Compact(ctx context.Context, c compact.Cycle) compact.Outcome {
	a := r.app
	text, err := a.prompts.AutoCompact.Text()
	if err != nil {
		return compact.Outcome{Status: state.StatusFailed, Err: err, Stage: loop.StageOther}
	}
	out := a.compactor.Run(ctx, a.session.st, compact.Job{RunID: r.ids.RunID, Prompt: text})
	r.compacted(out)
	if out.Status == state.StatusCompleted {
		_ = a.announceIn(metadata, slotAutoCompact, wire.EventCompactFinished, compact.FinishedAutomatic(out, a.session.revision, c))
	}
	return out
}

// compactByHand performs the operation compact.
func (r *request) compactByHand(ctx context.Context) compact.Settlement {
	a := r.app
	end := compact.Settlement{Status: state.StatusFailed, Operation: compact.OperationCompact, Stage: loop.StageOther}
	text, err := a.prompts.Compact.Text()
	if err != nil {
		end.Err = err
		return end
	}
	out := a.compactor.Run(ctx, a.session.st, compact.Job{RunID: r.ids.RunID, Prompt: text, Archived: func() error {
		return a.announce(lifecycle, wire.EventRunStarted, nil)
	}})
	r.compacted(out)
	if out.Status == state.StatusCompleted {
		if err := a.announce(lifecycle, wire.EventCompactFinished, compact.Finished(out, a.session.revision)); err != nil {
			out.Status, out.Err, out.Stage = state.StatusFailed, err, loop.StageOther
		}
	}
	end.Status, end.Err, end.Stage, end.CompactExchanges = out.Status, out.Err, out.Stage, out.Exchanges
	return end
}

// compacted settles what both kinds of compaction share.
func (r *request) compacted(out compact.Outcome) {
	if out.Status == state.StatusCompleted {
		r.durable = true
		return
	}
	if out.CleanupErr != nil {
		r.app.announceExportError(wire.ExportError{Message: wire.Notice(out.CleanupErr.Error()), Operation: "archive_cleanup"})
	}
}

// saveCompacted makes the replacement durable; after it returned nothing can fail.
func (a *Application) saveCompacted(replacement *state.State) error {
	_, err := a.session.save(replacement, persistence.Compact)
	return err
}

// swapCompacted makes the replacement the session's state.
func (a *Application) swapCompacted(replacement *state.State) {
	a.session.st = replacement
	a.session.moved(replacement.Clone())
}
