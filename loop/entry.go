package loop

import (
	"context"
	"errors"
	"fmt"

	"simplex/hooks"
	"simplex/state"
)

// enter makes the entry checks in their order (§3.2); false means that Run ends with
// the outcome given.
func enter(ctx context.Context, st *state.State, input *state.Message, cfg Config) (Outcome, bool) {
	if err := checkRequest(st, input, cfg); err != nil {
		return refused(err), false
	}
	if ctx.Err() != nil {
		return Outcome{Status: state.StatusCancelled}, false
	}
	// Checks 6 to 8: the structure rules cover the pending results, too.
	if err := state.Check(st); err != nil {
		return refused(fmt.Errorf("conversation: %w", err)), false
	}
	if st.Loop == nil {
		st.Loop = state.NewLoop()
	}
	projectPending(st)
	if ctx.Err() != nil {
		return Outcome{Status: state.StatusCancelled}, false
	}
	return Outcome{}, true
}

func refused(err error) Outcome {
	return Outcome{Status: state.StatusFailed, Err: err, Stage: StageOther}
}

// checkRequest is checks 1 to 4.
func checkRequest(st *state.State, input *state.Message, cfg Config) error {
	if cfg.MaxExchanges == 0 {
		return errors.New("max exchanges must be at least 1")
	}
	if cfg.Model == nil {
		return errors.New("no model")
	}
	if input != nil {
		if err := state.CheckInput(input); err != nil {
			return fmt.Errorf("input message: %w", err)
		}
	} else if len(st.Turns) == 0 {
		return ErrNothingToContinue
	}
	if st.Loop != nil && (st.Loop.Phase == state.PhaseTools || st.Loop.Phase == state.PhaseBlocked) {
		return ErrRecoveryRequired
	}
	return nil
}

// projectPending makes results that were stored but not projected before the last
// process ended the results of the last step. No tool runs again.
func projectPending(st *state.State) {
	if st.Loop.Phase != state.PhaseProjection {
		return
	}
	st.ReplaceLastStep(withResults(st.LastStep(), st.Loop.Pending))
	loop := *st.Loop
	loop.Phase, loop.Pending = state.PhaseReady, nil
	st.Loop = &loop
}

// admit resets the progress and integrates the input.
func (r *run) admit(input *state.Message) *verdict {
	r.progress(func(l *state.LoopProgress) {
		l.Status, l.Phase = state.StatusRunning, state.PhaseReady
		l.CompletedExchanges, l.Error = 0, ""
	})
	if err := r.tell(&hooks.Event{Name: hooks.RunStarted}); err != nil {
		return r.failure(err, StageOther)
	}
	if input == nil {
		return nil
	}
	e := &hooks.Event{Name: hooks.BeforeInput, Input: input}
	if err := r.tell(e); err != nil {
		return r.failure(err, StageOther)
	}
	if err := state.CheckInput(e.Input); err != nil {
		return r.failure(fmt.Errorf("input message after %s: %w", hooks.BeforeInput, err), StageOther)
	}
	if r.stopped() {
		return cancelled()
	}
	r.st.AppendTurn(&state.Turn{UserInput: e.Input, Retain: state.RetainNormal, Extras: r.cfg.TurnExtras})
	if err := r.tell(&hooks.Event{Name: hooks.InputCommitted, Input: e.Input}); err != nil {
		return r.failure(err, StageOther)
	}
	return nil
}
