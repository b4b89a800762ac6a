package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"simplex/hooks"
	"simplex/state"
)

// run is one admitted run.
type run struct {
	ctx    context.Context // cancelled: stop requested
	calm   context.Context // the same without the cancellation, for hooks and tools
	st     *state.State
	cfg    Config
	ids    *idSet              // nil until the first response with calls
	proven *state.SystemPrompt // the last prompt that was seen to render
	tokens *uint64
}

// verdict says that and how a run ends; nil means it goes on.
type verdict struct {
	status state.LoopStatus
	err    error
	stage  Stage
	reason string
}

func (r *run) stopped() bool { return r.ctx.Err() != nil }

func cancelled() *verdict { return &verdict{status: state.StatusCancelled} }

// failure judges an error: it counts as a cancellation only if a stop was requested
// and the error is that of an aborted operation (§3.6).
func (r *run) failure(err error, stage Stage) *verdict {
	if r.stopped() && errors.Is(err, context.Canceled) {
		return cancelled()
	}
	return &verdict{status: state.StatusFailed, err: err, stage: stage}
}

// progress replaces the loop record by a changed copy.
func (r *run) progress(change func(*state.LoopProgress)) {
	p := *r.st.Loop
	change(&p)
	r.st.Loop = &p
}

func (r *run) phase(p state.LoopPhase) {
	r.progress(func(l *state.LoopProgress) { l.Phase = p })
}

// tell dispatches an event with a snapshot of the state.
func (r *run) tell(e *hooks.Event) error {
	if r.cfg.Hooks.Empty() {
		return nil
	}
	e.State = r.st.Clone()
	e.Calls, e.Results = slices.Clip(e.Calls), slices.Clip(e.Results)
	return r.cfg.Hooks.Dispatch(r.calm, e)
}

// prove checks that a prompt renders; one that did before is not rendered again.
func (r *run) prove(p *state.SystemPrompt) error {
	if r.proven != nil && samePrompt(r.proven, p) {
		return nil
	}
	if _, err := p.Render(); err != nil {
		return fmt.Errorf("system prompt: %w", err)
	}
	r.proven = &state.SystemPrompt{HeadingLevel: p.HeadingLevel, Sections: slices.Clone(p.Sections)}
	return nil
}

func samePrompt(a, b *state.SystemPrompt) bool {
	return a.HeadingLevel == b.HeadingLevel && slices.Equal(a.Sections, b.Sections)
}

// guard turns a panic of f into an error. The stack goes to the log only.
func (r *run) guard(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.cfg.Logger.Error("panic", "in", what, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, v)
		}
	}()
	return f()
}
