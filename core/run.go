package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"simplex/core/compact"
	"simplex/internal/text"
	"simplex/state"
	"simplex/wire"
)

// activeRun is the one run under way, as signals see it.
type activeRun struct {
	id     string
	scope  *confirmScope
	cancel context.CancelFunc
}

// runs guards the active run against the signal goroutine.
type runs struct {
	mu       sync.Mutex
	active   *activeRun
	stopping bool
}

// begin makes run the active one; false after halt.
func (r *runs) begin(run *activeRun) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return false
	}
	r.active = run
	return true
}

func (r *runs) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = nil
}

// cancel stops the run of that id: first nothing more can be approved, then the model
// call is aborted. Another id changes nothing (worker-data.md §3.6).
func (r *runs) cancel(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active != nil && r.active.id == id {
		r.active.stop()
	}
}

// halt stops the active run, whichever it is, and lets no other begin.
func (r *runs) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	if r.active != nil {
		r.active.stop()
	}
}

func (r *runs) state() (active, stopping bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.active != nil, r.stopping
}

func (a *activeRun) stop() {
	a.scope.close()
	a.cancel()
}

// beginRun makes the run that signals can stop, stopped already where the worker is
// stopping, and announces it: whoever reads its id in the event may cancel it at once. The
// caller ends it, also after an error.
func (a *Application) beginRun(req *wire.Input, mode wire.Mode, runID string) (context.Context, *activeRun, error) {
	ctx, cancel := context.WithCancel(context.Background())
	run := &activeRun{id: runID, scope: a.confirmer.open(mode, runID), cancel: cancel}
	a.telling.Lock()
	defer a.telling.Unlock()
	a.current.Store(&place{requestID: req.RequestID, runID: runID})
	if !a.runs.begin(run) {
		run.stop()
	}
	return ctx, run, a.announce(lifecycle, wire.EventInputAdmitted, wire.InputAdmitted{Operation: req.Operation})
}

// perform executes one admitted request from run_started to run_finished. The error is
// one after which the worker cannot go on.
func (a *Application) perform(ctx context.Context, req *wire.Input, run *activeRun) error {
	r := a.newRequest(req, run.id, run.scope)
	end := r.perform(ctx, req)
	if err := a.endRun(end, r); err != nil {
		return err
	}
	if a.session.broken.Load() {
		return a.session.failure
	}
	return nil
}

// endRun lets the next run begin and announces the end of this one.
func (a *Application) endRun(end compact.Settlement, r *request) error {
	a.telling.Lock()
	defer a.telling.Unlock()
	a.runs.end()
	a.session.expose()
	return a.announceFinish(end, r)
}

func (a *Application) announceFinish(end compact.Settlement, r *request) error {
	left := a.outbox.settle()
	fin := wire.RunFinished{
		Status: wire.RunStatus(end.Status), Exchanges: end.TaskExchanges + end.CompactExchanges, Durable: r.durable,
		TaskExchanges: &end.TaskExchanges, CompactExchanges: &end.CompactExchanges,
		OmittedDisplay: left.Display, OmittedQuery: left.Query, OmittedFeedback: left.Feedback, CoalescedMetadata: left.Coalesced,
	}
	if a.worker.AutoCompactThreshold > 0 {
		counters := r.auto.Counters()
		fin.AutoCompact = &counters
	}
	if end.Err != nil {
		fin.Error = wire.Notice(end.Err.Error())
	}
	if end.Status == state.StatusFailed {
		fin.Failure = &wire.Failure{Stage: string(end.Stage), Operation: end.Operation, CanContinue: a.canContinue()}
	}
	counts := a.router.Counters()
	fin.RejectedQueries, fin.Unreported = counts.RejectedQueries, counts.UnreportedRejections
	return a.announce(lifecycle, wire.EventRunFinished, fin)
}

// canContinue tells whether a `continue` would be accepted now.
func (a *Application) canContinue() bool {
	st := a.session.st
	return !a.session.broken.Load() && recoverable(st.Loop) == nil && (len(st.Turns) > 0 || compact.CanResume(st))
}

// errRecovery says that the last run's tools may or may not have taken effect.
var errRecovery = errors.New("the last run was interrupted while its tools ran: their effects are unknown")

// recoverable tells whether the phase lets a new run begin (wire.md §11).
func recoverable(p *state.LoopProgress) error {
	if p != nil && (p.Phase == state.PhaseTools || p.Phase == state.PhaseBlocked) {
		return errRecovery
	}
	return nil
}

// callsNamed is how many of the interrupted calls a message names.
const callsNamed = 8

// recovery is what recoverable finds, for the one who has to look: which calls were under
// way, where the state is, and the command that settles it.
func (s *session) recovery() error {
	err := recoverable(s.st.Loop)
	if err == nil {
		return nil
	}
	calls, where := "", ""
	if step := s.st.LastStep(); step != nil && len(step.ModelResponse.Calls) > 0 {
		calls = ": " + strings.Join(namesOf(step.ModelResponse.Calls), ", ")
	}
	if file, ok := s.store.(fileStore); ok {
		where = " in " + file.Path()
	}
	return fmt.Errorf("%w%s. Look at the machine; then end this worker and run `simplex state settle --config FILE --session %s`, "+
		"which answers these calls%s, or take the session away", err, calls, s.id, where)
}

func namesOf(calls []state.Call) []string {
	var out []string
	for i, call := range calls {
		if i == callsNamed {
			return append(out, fmt.Sprintf("and %d more", len(calls)-i))
		}
		out = append(out, fmt.Sprintf("%s (call %s)", text.Prefix(call.Name, wire.MaxCallField), text.Prefix(call.ID, wire.MaxCallField)))
	}
	return out
}
