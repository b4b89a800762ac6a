package loop_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/hooks"
	"simplex/loop"
	"simplex/state"
)

func encoded(t testing.TB, st *state.State) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := state.Encode(&buf, st); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// reload is the state after a crash: what its encoding says.
func reload(t testing.TB, st *state.State) *state.State {
	t.Helper()
	got, err := state.Decode(encoded(t, st))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// caughtAt runs a conversation with two calls and gives what the state was at an event.
func caughtAt(t testing.TB, event hooks.Name) *state.State {
	t.Helper()
	var caught *state.State
	r := withTools().hooks(at(event, func(e *hooks.Event) error {
		if caught == nil {
			caught = reload(t, e.State)
		}
		return nil
	}))
	r.run(t, said("hi"))
	if caught == nil {
		t.Fatalf("no %s", event)
	}
	return caught
}

func TestEntryChecks(t *testing.T) {
	t.Parallel()
	used := func(change func(*state.State)) func(testing.TB) *state.State {
		return func(t testing.TB) *state.State {
			st := caughtAt(t, hooks.RunFinished)
			change(st)
			return st
		}
	}
	fresh := func(testing.TB) *state.State { return newRig().st }
	stopped, stop := context.WithCancel(t.Context())
	stop()
	tests := []struct {
		name   string
		st     func(testing.TB) *state.State
		input  *state.Message
		change func(*loop.Config)
		ctx    context.Context
		status state.LoopStatus
		is     error
	}{
		{"no exchanges allowed", fresh, said("x"), func(c *loop.Config) { c.MaxExchanges = 0 }, nil, state.StatusFailed, nil},
		{"no model", fresh, said("x"), func(c *loop.Config) { c.Model = nil }, nil, state.StatusFailed, nil},
		{"input of another type", fresh, response("x"), nil, nil, state.StatusFailed, nil},
		{"input with calls", fresh, &state.Message{Type: state.UserInput, Calls: response("", "a:b").Calls}, nil, nil, state.StatusFailed, nil},
		{"input with a result", fresh, &state.Message{Type: state.UserInput, Result: &state.Result{}}, nil, nil, state.StatusFailed, nil},
		{"nothing to continue", fresh, nil, nil, nil, state.StatusFailed, loop.ErrNothingToContinue},
		{"nothing to continue goes before a stop", fresh, nil, nil, stopped, state.StatusFailed, loop.ErrNothingToContinue},
		{"phase tools", func(t testing.TB) *state.State { return caughtAt(t, hooks.ToolDispatchCheckpoint) }, said("x"), nil, nil, state.StatusFailed, loop.ErrRecoveryRequired},
		{"phase blocked", used(func(st *state.State) { st.Loop.Phase = state.PhaseBlocked }), nil, nil, nil, state.StatusFailed, loop.ErrRecoveryRequired},
		{"stop", fresh, said("x"), nil, stopped, state.StatusCancelled, nil},
		{"stop goes before the structure", used(func(st *state.State) { st.Turns[0] = nil }), said("x"), nil, stopped, state.StatusCancelled, nil},
		{"pending results in phase ready", used(func(st *state.State) { st.Loop.Pending = []state.Result{{}} }), said("x"), nil, nil, state.StatusFailed, nil},
		{"phase projection without results", used(func(st *state.State) { st.Loop.Phase = state.PhaseProjection }), said("x"), nil, nil, state.StatusFailed, nil},
		{"broken structure", used(func(st *state.State) { st.Turns[0].Steps[0].Returns = nil }), said("x"), nil, nil, state.StatusFailed, nil},
		{"pending results of another call", func(t testing.TB) *state.State {
			st := caughtAt(t, hooks.ToolResultsCheckpoint)
			st.Loop.Pending[1].Call.ID = "c3"
			return st
		}, said("x"), nil, nil, state.StatusFailed, nil},
		{"too few pending results", func(t testing.TB) *state.State {
			st := caughtAt(t, hooks.ToolResultsCheckpoint)
			st.Loop.Pending = st.Loop.Pending[:1]
			return st
		}, said("x"), nil, nil, state.StatusFailed, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(says("never"))
			r.st = tt.st(t)
			before := r.st.Clone()
			if tt.change != nil {
				tt.change(&r.cfg)
			}
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			out := loop.Run(ctx, r.st, tt.input, r.cfg)
			wantStatus(t, out, tt.status)
			if tt.is != nil && !errors.Is(out.Err, tt.is) {
				t.Errorf("error %v, want %v", out.Err, tt.is)
			}
			if out.Admitted || len(r.log.lines) > 0 {
				t.Errorf("admitted %v, log %v", out.Admitted, r.log.lines)
			}
			if diff := cmp.Diff(before, r.st, exported); diff != "" {
				t.Errorf("the state was changed:\n%s", diff)
			}
		})
	}
}

// exported compares values of the state package by ==, where they have hidden fields.
var exported = cmp.Options{
	cmp.Comparer(func(a, b state.Value) bool { return a == b }),
	cmp.Comparer(func(a, b state.Object) bool { return a == b }),
}

// A crash after results_ready: the next run projects them and no tool runs again.
func TestRecoveryFromProjection(t *testing.T) {
	t.Parallel()
	t.Run("message", func(t *testing.T) {
		t.Parallel()
		r := newRig(says("done"))
		r.st = caughtAt(t, hooks.ToolResultsCheckpoint)
		wantStatus(t, r.run(t, said("go on")), state.StatusCompleted)
		if strings.Contains(r.log.String(), "run ") {
			t.Errorf("a tool ran again:\n%s", r.log)
		}
		if !strings.HasPrefix(r.log.String(), "RunStarted running/ready x0 s1\n") {
			t.Errorf("the log begins with %s", r.log.lines[0])
		}
		returns := r.model.seen[0].Turns[0].Steps[0].Returns
		if len(r.st.Turns) != 2 || len(returns) != 2 || returns[1].Result.Output.Raw != "done read" {
			t.Errorf("turns %d, returns %v", len(r.st.Turns), returns)
		}
	})
	t.Run("continue", func(t *testing.T) {
		t.Parallel()
		r := newRig(says("done"))
		r.st = caughtAt(t, hooks.ToolResultsCheckpoint)
		wantStatus(t, r.run(t, nil), state.StatusCompleted)
		if steps := r.st.Turns[0].Steps; len(r.st.Turns) != 1 || len(steps) != 2 || steps[1].CommitSequence != 2 {
			t.Errorf("turns %d, steps %d", len(r.st.Turns), len(steps))
		}
	})
}

// The end of a run that died in phase model is forgotten.
func TestPhaseModelIsAdmitted(t *testing.T) {
	t.Parallel()
	r := newRig(says("a"), says("b"))
	r.run(t, said("hi"))
	r.st.Loop = &state.LoopProgress{Status: state.StatusRunning, Phase: state.PhaseModel, Error: "old", CommittedSequence: 1, CompletedExchanges: 7}
	out := r.run(t, said("hi"))
	wantStatus(t, out, state.StatusCompleted)
	want := state.LoopProgress{Status: state.StatusCompleted, Phase: state.PhaseReady, CompletedExchanges: 1, CommittedSequence: 2}
	if diff := cmp.Diff(want, *r.st.Loop, exported); diff != "" {
		t.Error(diff)
	}
}

func TestStateWithoutProgress(t *testing.T) {
	t.Parallel()
	r := newRig(says("a"))
	r.st.Loop = nil
	wantStatus(t, r.run(t, said("hi")), state.StatusCompleted)
}
