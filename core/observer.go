package core

import (
	"context"

	"simplex/core/compact"
	"simplex/hooks"
	"simplex/loop"
	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

// observer is the worker's own handler, last at every event: it keeps meta.updated_at,
// saves, and only then announces (worker-data.md §3.1, wire.md §5).
type observer struct {
	app      *Application
	started  bool // whether run_started of this request was told
	durable  bool // whether the last final save succeeded
	finished bool // whether a final save was made or tried

	saving <-chan error // the step_finished save under way; nil when there is none
}

func (o *observer) Name() string { return "worker" }

// Keeps implements hooks.Keeper: what is committed is told, and what tools did is saved,
// also where a plugin failed at the event.
func (o *observer) Keeps(n hooks.Name) bool {
	switch n {
	case hooks.InputCommitted, hooks.ModelCommitted, hooks.ToolResultsCheckpoint, hooks.ToolResultsCommitted, hooks.StepFinished:
		return true
	default:
		return false
	}
}

// moves tells the events at which the history has a new revision, under which alone the
// new state is shown (wire.md §6).
func moves(n hooks.Name) bool {
	switch n {
	case hooks.InputCommitted, hooks.ModelCommitted, hooks.StepFinished, hooks.RunFinished:
		return true
	default:
		return false
	}
}

func (o *observer) Handle(_ context.Context, e *hooks.Event) error {
	err := o.handle(e)
	if e.Name == hooks.RunFinished && o.app.session.broken.Load() {
		return nil // the worker ends with it, and that tells it once
	}
	return err
}

func (o *observer) handle(e *hooks.Event) error {
	if e.Name != hooks.BeforeModel {
		if err := o.join(); err != nil {
			return err
		}
	}
	if !moves(e.Name) {
		o.app.session.show(e.State)
	}
	switch e.Name {
	case hooks.RunStarted:
		return o.runStarted()
	case hooks.InputCommitted:
		return o.inputCommitted(e)
	case hooks.ModelCommitted:
		o.app.session.moved(e.State)
		return o.modelResponse(e.State)
	case hooks.BeforeToolBatch:
		return o.app.announceCalls(e.Calls)
	case hooks.ToolDispatchCheckpoint:
		return o.save(e.State, persistence.BeforeTools)
	case hooks.ToolResultsCheckpoint:
		return o.save(e.State, persistence.ResultsReady)
	case hooks.ToolResultsCommitted:
		return o.app.announceResults(e.Results)
	case hooks.EditOnStepFinished, hooks.EditOnRunFinished:
		e.Edit.Meta.UpdatedAt = state.TimeStamp(o.app.clock())
		return nil
	case hooks.StepFinished:
		return o.stepFinished(e)
	case hooks.RunFinished:
		return o.runFinished(e.State)
	default:
		return nil
	}
}

// begin prepares for the segments of a new request.
func (o *observer) begin() { o.started = false }

// runStarted tells of the first segment of a request only: the others go on with it.
func (o *observer) runStarted() error {
	o.durable, o.finished = false, false
	if o.started {
		return nil
	}
	o.started = true
	return o.app.announce(lifecycle, wire.EventRunStarted, nil)
}

// inputCommitted says nothing of the host's own continuation messages.
func (o *observer) inputCommitted(e *hooks.Event) error {
	o.app.session.moved(e.State)
	if compact.Internal(e.Input) {
		return nil
	}
	return o.app.announce(lifecycle, wire.EventInputCommitted, nil)
}

func (o *observer) modelResponse(st *state.State) error {
	turn := len(st.Turns) - 1
	step := len(st.Turns[turn].Steps) - 1
	last := st.Turns[turn].Steps[step]
	source := o.app.pager.Source(uint64(turn), uint64(step), last)
	data, err := display.Response(last.ModelResponse, source)
	if err != nil {
		return err
	}
	return o.app.announce(preview, wire.EventModelResponse, data)
}

// stepFinished saves steps that had tools; a plain answer is saved with its run. The
// model need not wait for this save: what it adds to results_ready can be told again
// from there after a crash. The next event of the run does wait.
func (o *observer) stepFinished(e *hooks.Event) error {
	o.app.session.moved(e.State)
	if len(e.Calls) == 0 || !o.app.session.saves(persistence.StepFinished) {
		return nil
	}
	done := make(chan error, 1)
	o.saving = done
	go func() {
		_, err := o.app.session.save(e.State, persistence.StepFinished)
		done <- err
	}()
	return nil
}

// join waits for the save under way and gives its outcome.
func (o *observer) join() error {
	if o.saving == nil {
		return nil
	}
	err := <-o.saving
	o.saving = nil
	return err
}

func (o *observer) runFinished(st *state.State) error {
	o.app.session.moved(st)
	if st.Loop.Status == state.StatusCancelled && !o.app.session.policy.Saves(persistence.RunFinished) {
		return o.finalSave(st, persistence.Cancelled)
	}
	return o.finalSave(st, persistence.RunFinished)
}

func (o *observer) finalSave(st *state.State, b persistence.Boundary) error {
	o.finished = true
	saved, err := o.app.session.save(st, b)
	o.durable = saved
	return err
}

// cancelled ends a request that was stopped between two segments, and says whether that
// is on disk. The segment before it was told to be followed by a compaction.
func (o *observer) cancelled() bool {
	st := o.app.session.st
	p := *st.Loop
	p.Status = state.StatusCancelled
	st.Loop = &p
	_ = o.finalSave(st.Clone(), persistence.Cancelled)
	return o.durable
}

func (o *observer) save(st *state.State, b persistence.Boundary) error {
	_, err := o.app.session.save(st, b)
	return err
}

// settle makes the last save where the run itself did not, and says whether the end of
// the run is on disk.
func (o *observer) settle(out loop.Outcome) bool {
	_ = o.join()
	if !o.finished && out.Admitted && out.Status == state.StatusCancelled {
		_ = o.finalSave(o.app.session.st, persistence.Cancelled)
	}
	return o.durable
}
