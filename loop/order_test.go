package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"simplex/hooks"
	"simplex/loop"
	"simplex/state"
)

const plainOrder = `
RunStarted running/ready x0 s0
BeforeInput running/ready x0 s0
InputCommitted running/ready x0 s0
BeforeModel running/ready x0 s0
model
ModelCommitted running/ready x1 s1
EditOnStepFinished running/ready x1 s1
StepFinished running/ready x1 s1
EditOnRunFinished completed/ready x1 s1
RunFinished completed/ready x1 s1`

const toolsOrder = `
RunStarted running/ready x0 s0
BeforeInput running/ready x0 s0
InputCommitted running/ready x0 s0
BeforeModel running/ready x0 s0
model
ModelCommitted running/ready x1 s1
BeforeToolBatch running/ready x1 s1
ToolDispatchCheckpoint running/tools x1 s1
settle write
settle read
run write
run read
ToolResultsCheckpoint running/projection x1 s1 pending2
ToolResultsCommitted running/ready x1 s1
EditOnStepFinished running/ready x1 s1
StepFinished running/ready x1 s1
BeforeModel running/ready x1 s1
model
ModelCommitted running/ready x2 s2
EditOnStepFinished running/ready x2 s2
StepFinished running/ready x2 s2
EditOnRunFinished completed/ready x2 s2
RunFinished completed/ready x2 s2`

func withTools() *rig { return newRig(says("look", "write:c1", "read:c2"), says("done")) }

func TestOrderOfAPlainRun(t *testing.T) {
	t.Parallel()
	r := newRig(says("hello"))
	wantStatus(t, r.run(t, said("hi")), state.StatusCompleted)
	wantText(t, r.log.String(), plainOrder)
}

func TestOrderWithTools(t *testing.T) {
	t.Parallel()
	r := withTools()
	r.cfg.StepExtras = state.EmptyObject().With("simplex.execution", state.EmptyObject().Value)
	r.cfg.TurnExtras = state.EmptyObject().With("mark", state.StringValue("x"))
	out := r.run(t, said("hi"))
	wantStatus(t, out, state.StatusCompleted)
	wantText(t, r.log.String(), toolsOrder)
	if !out.Admitted || out.Exchanges != 2 || out.LastTokens != nil {
		t.Errorf("outcome %+v", out)
	}
	turn := r.st.Turns[0]
	if turn.Extras != r.cfg.TurnExtras || turn.Steps[0].Extras != r.cfg.StepExtras || turn.Steps[1].Extras != r.cfg.StepExtras {
		t.Error("extras are missing")
	}
	ret := turn.Steps[0].Returns[0]
	if ret.Type != state.InvokeReturn || ret.Role != "tool" || ret.Content[0] != ret.Result.Output {
		t.Errorf("projection %+v", ret)
	}
	if raw := turn.Steps[0].ModelResponse.Calls[0]; raw.Type != state.ReadOnly || ret.Result.Call.Type != state.SerialWrite {
		t.Error("the step keeps the raw call, the result the settled one")
	}
}

// The model sees a snapshot in phase model that ends with what it shall answer.
func TestModelSeesTheConversation(t *testing.T) {
	t.Parallel()
	r := withTools()
	r.run(t, said("hi"))
	first, second := r.model.seen[0], r.model.seen[1]
	if first.Loop.Phase != state.PhaseModel || len(first.Turns) != 1 || len(first.Turns[0].Steps) != 0 {
		t.Errorf("first exchange saw %+v", first.Turns[0])
	}
	if len(second.Turns[0].Steps) != 1 || len(second.Turns[0].Steps[0].Returns) != 2 {
		t.Errorf("second exchange saw %+v", second.Turns[0])
	}
}

func TestContinueHasNoInputEvents(t *testing.T) {
	t.Parallel()
	r := newRig(says("a"), says("b"))
	r.run(t, said("hi"))
	r.log.lines = nil
	wantStatus(t, r.run(t, nil), state.StatusCompleted)
	wantText(t, r.log.String(), `
RunStarted running/ready x0 s1
BeforeModel running/ready x0 s1
model
ModelCommitted running/ready x1 s2
EditOnStepFinished running/ready x1 s2
StepFinished running/ready x1 s2
EditOnRunFinished completed/ready x1 s2
RunFinished completed/ready x1 s2`)
	if n := len(r.st.Turns[0].Steps); len(r.st.Turns) != 1 || n != 2 {
		t.Errorf("%d turns, %d steps", len(r.st.Turns), n)
	}
}

// truncated is the golden up to the n-th mention of an event, that line included.
func upTo(golden string, event hooks.Name) string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(golden)) {
		out = append(out, strings.TrimSpace(line))
		if strings.HasPrefix(line, string(event)+" ") {
			break
		}
	}
	return strings.Join(out, "\n")
}

// skipped is what follows when a batch is not dispatched.
const skipped = `
ToolResultsCheckpoint running/projection x1 s1 pending2`

func ending(status string, x, s int) string {
	return fmt.Sprintf("\nEditOnRunFinished %s/ready x%d s%d\nRunFinished %s/ready x%d s%d", status, x, s, status, x, s)
}

// afterToolsOrder is the part of the golden between two events, both included.
func between(golden string, first, last hooks.Name) string {
	_, rest, _ := strings.Cut(golden, "\n"+string(first)+" ")
	return "\n" + upTo(string(first)+" "+rest, last)
}

func TestCancelAtEveryEvent(t *testing.T) {
	t.Parallel()
	settled := between(toolsOrder, hooks.ToolResultsCommitted, hooks.StepFinished) + ending("cancelled", 1, 1)
	notRun := skipped + settled
	tests := []struct {
		event hooks.Name
		then  string // what follows the event
	}{
		{hooks.RunStarted, "\nBeforeInput running/ready x0 s0" + ending("cancelled", 0, 0)},
		{hooks.BeforeInput, ending("cancelled", 0, 0)},
		{hooks.InputCommitted, ending("cancelled", 0, 0)},
		{hooks.BeforeModel, ending("cancelled", 0, 0)},
		{hooks.ModelCommitted, between(toolsOrder, hooks.BeforeToolBatch, hooks.ToolDispatchCheckpoint) + notRun},
		{hooks.BeforeToolBatch, between(toolsOrder, hooks.ToolDispatchCheckpoint, hooks.ToolDispatchCheckpoint) + notRun},
		{hooks.ToolDispatchCheckpoint, notRun},
		{hooks.ToolResultsCheckpoint, settled},
		{hooks.ToolResultsCommitted, between(toolsOrder, hooks.EditOnStepFinished, hooks.StepFinished) + ending("cancelled", 1, 1)},
		{hooks.EditOnStepFinished, between(toolsOrder, hooks.StepFinished, hooks.StepFinished) + ending("cancelled", 1, 1)},
		{hooks.StepFinished, ending("cancelled", 1, 1)},
	}
	for _, tt := range tests {
		t.Run(string(tt.event), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := withTools().hooks(at(tt.event, func(*hooks.Event) error { cancel(); return nil }))
			out := loop.Run(ctx, r.st, said("hi"), r.cfg)
			checkState(t, r.st)
			wantStatus(t, out, state.StatusCancelled)
			wantText(t, r.log.String(), upTo(toolsOrder, tt.event)+tt.then)
			if strings.Contains(tt.then, skipped) {
				wantText(t, strings.Join(outputs(r.st), "\n"), "c1: not run: the run was cancelled\nc2: not run: the run was cancelled")
			}
		})
	}
}

func TestHookErrorAtEveryEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		event hooks.Name
		then  string // the observer does not hear the event at which the hook before it failed
	}{
		{hooks.RunStarted, ending("failed", 0, 0)},
		{hooks.BeforeInput, ending("failed", 0, 0)},
		{hooks.InputCommitted, ending("failed", 0, 0)},
		{hooks.BeforeModel, ending("failed", 0, 0)},
		{hooks.ModelCommitted, skipped + ending("failed", 1, 1)},
		{hooks.BeforeToolBatch, skipped + ending("failed", 1, 1)},
		{hooks.ToolDispatchCheckpoint, skipped + ending("failed", 1, 1)},
		{hooks.ToolResultsCheckpoint, ending("failed", 1, 1)},
		{hooks.ToolResultsCommitted, ending("failed", 1, 1)},
		{hooks.EditOnStepFinished, ending("failed", 1, 1)},
		{hooks.StepFinished, ending("failed", 1, 1)},
		{hooks.EditOnRunFinished, "\nRunFinished failed/ready x2 s2"},
	}
	boom := errors.New("boom")
	for _, tt := range tests {
		t.Run(string(tt.event), func(t *testing.T) {
			t.Parallel()
			r := withTools().hooks(at(tt.event, func(*hooks.Event) error { return boom }))
			out := r.run(t, said("hi"))
			wantStatus(t, out, state.StatusFailed)
			heard := upTo(toolsOrder, tt.event)
			heard = heard[:max(strings.LastIndex(heard, "\n"), 0)]
			wantText(t, r.log.String(), heard+tt.then)
			if !errors.Is(out.Err, boom) || out.Stage != loop.StageOther || r.st.Loop.Error != out.Err.Error() {
				t.Errorf("error %v, stored %q, stage %s", out.Err, r.st.Loop.Error, out.Stage)
			}
		})
	}
}

func TestErrorsAtRunFinishedAreOnlyLogged(t *testing.T) {
	t.Parallel()
	r := withTools().hooks(at(hooks.RunFinished, func(*hooks.Event) error { panic("boom") }))
	wantStatus(t, r.run(t, said("hi")), state.StatusCompleted)
	wantText(t, r.log.String(), toolsOrder)
}

func TestModelErrors(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	aborted := fmt.Errorf("operation aborted: %w", context.Canceled)
	tests := []struct {
		name   string
		stop   bool
		answer answer
		status state.LoopStatus
		text   string
	}{
		{"error", false, fails(boom), state.StatusFailed, "boom"},
		{"error after a stop is no cancellation", true, fails(boom), state.StatusFailed, "boom"},
		{"aborted after a stop", true, fails(aborted), state.StatusCancelled, ""},
		{"aborted without a stop", false, fails(aborted), state.StatusFailed, "operation aborted: context canceled"},
		{"panic", false, func(context.Context) (*state.Message, error) { panic("oh\xff") }, state.StatusFailed, "model: panic: oh\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newRig(func(ctx context.Context) (*state.Message, error) {
				if tt.stop {
					cancel()
				}
				return tt.answer(ctx)
			})
			out := loop.Run(ctx, r.st, said("hi"), r.cfg)
			checkState(t, r.st)
			wantStatus(t, out, tt.status)
			if tt.status == state.StatusFailed && out.Stage != loop.StageModelRequest {
				t.Errorf("stage %s", out.Stage)
			}
			if r.st.Loop.Error != tt.text || len(r.st.Turns) != 1 || len(r.st.Turns[0].Steps) != 0 {
				t.Errorf("error %q, turns %d", r.st.Loop.Error, len(r.st.Turns))
			}
		})
	}
}

// The error of the end does not hide the one that ended the run.
func TestBothErrorsAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(fails(errors.New("first"))).hooks(at(hooks.EditOnRunFinished, func(*hooks.Event) error { return errors.New("second") }))
	out := r.run(t, said("hi"))
	wantText(t, r.st.Loop.Error, "first; EditOnRunFinished: hook test at EditOnRunFinished: second")
	if out.Stage != loop.StageModelRequest {
		t.Errorf("stage %s", out.Stage)
	}
}
