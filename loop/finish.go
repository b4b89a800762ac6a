package loop

import (
	"fmt"
	"strings"

	"simplex/hooks"
	"simplex/state"
)

// end stores the verdict and closes the run (§3.2).
func (r *run) end(v verdict) Outcome {
	r.progress(func(l *state.LoopProgress) {
		switch l.Phase {
		case state.PhaseTools:
			l.Phase = state.PhaseBlocked
		case state.PhaseModel:
			l.Phase = state.PhaseReady
		}
	})
	r.store(v)
	if err := r.edit(&hooks.Event{Name: hooks.EditOnRunFinished}); err != nil {
		v = worsened(v, err)
		r.store(v)
	}
	if err := r.tell(&hooks.Event{Name: hooks.RunFinished}); err != nil {
		r.cfg.Logger.Error("hook failed after the run", "error", err)
	}
	return Outcome{
		Status:     v.status,
		Admitted:   true,
		Err:        v.err,
		Stage:      v.stage,
		Reason:     v.reason,
		Exchanges:  r.st.Loop.CompletedExchanges,
		LastTokens: r.tokens,
	}
}

func (r *run) store(v verdict) {
	r.progress(func(l *state.LoopProgress) {
		l.Status, l.Error = v.status, ""
		if v.err != nil {
			l.Error = strings.ToValidUTF8(v.err.Error(), "\uFFFD")
		}
	})
}

// worsened adds the failure of EditOnRunFinished to a verdict.
func worsened(v verdict, err error) verdict {
	out := verdict{status: state.StatusFailed, stage: StageOther}
	if v.err == nil {
		out.err = fmt.Errorf("%s: %w", hooks.EditOnRunFinished, err)
		return out
	}
	out.stage = v.stage
	out.err = fmt.Errorf("%w; %s: %w", v.err, hooks.EditOnRunFinished, err)
	return out
}
