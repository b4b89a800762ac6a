package loop

import (
	"simplex/hooks"
	"simplex/state"
)

// What a skip record says.
const (
	skippedByStop = "not run: the run was cancelled"
	skippedByHook = "not run: a hook failed before the tools were started"
)

// answerCalls gives every call of the last step its one result: by running the batch,
// or by skip records after a stop or a hook error (§3.2, 6). A hook error, the one
// given or a later one, is held until the results are in the step.
func (r *run) answerCalls(calls []state.Call, held error) ([]state.Result, error) {
	if held == nil {
		held = r.tell(&hooks.Event{Name: hooks.BeforeToolBatch, Calls: calls})
	}
	if held == nil {
		r.phase(state.PhaseTools)
		held = r.tell(&hooks.Event{Name: hooks.ToolDispatchCheckpoint, Calls: calls})
	}
	var results []state.Result
	switch {
	case held != nil:
		results = skipAll(calls, skippedByHook)
	case r.stopped():
		results = skipAll(calls, skippedByStop)
	default:
		results = r.runBatch(calls)
	}
	if err := r.commitResults(calls, results); held == nil {
		held = err
	}
	if held != nil {
		return results, held
	}
	return results, r.tell(&hooks.Event{Name: hooks.ToolResultsCommitted, Calls: calls, Results: results})
}

// commitResults makes the records durable and projects them. The records are there,
// so they are projected even when the durable point failed.
func (r *run) commitResults(calls []state.Call, results []state.Result) error {
	r.progress(func(l *state.LoopProgress) {
		l.Phase, l.Pending = state.PhaseProjection, results
	})
	err := r.tell(&hooks.Event{Name: hooks.ToolResultsCheckpoint, Calls: calls, Results: results})
	r.st.ReplaceLastStep(withResults(r.st.LastStep(), results))
	r.progress(func(l *state.LoopProgress) {
		l.Phase, l.Pending = state.PhaseReady, nil
	})
	return err
}
