package loop_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/hooks"
	"simplex/state"
)

var editEvents = []hooks.Name{hooks.EditOnStepFinished, hooks.EditOnRunFinished}

// editing prepares a run on a conversation of two turns, the first with tools.
func editing(t *testing.T, event hooks.Name, do func(e *hooks.Event) error) *rig {
	t.Helper()
	r := newRig(says("look", "write:c1", "read:c2"), says("done"), says("bye"))
	r.st.Tools = []state.Tool{{Name: "x", ArgumentSchema: state.EmptyObject()}}
	r.st.SystemPrompt.Sections = []state.Section{{Name: "base", Stability: state.Immutable, Text: "x"}}
	r.run(t, said("one"))
	r.log.lines = nil
	return r.hooks(at(event, do))
}

func TestEditsAreKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		do    func(*state.State)
		check func(*state.State) bool
	}{
		{
			"drop a turn", func(st *state.State) { st.Turns = st.Turns[1:] },
			func(st *state.State) bool { return len(st.Turns) == 1 && st.Turns[0].UserInput.Text() == "two" },
		},
		{
			"rewrite a turn", func(st *state.State) {
				turn := *st.Turns[0]
				turn.Steps = turn.Steps[1:]
				turn.Retain = state.RetainPinned
				st.Turns = slices.Concat([]*state.Turn{&turn}, st.Turns[1:])
			},
			func(st *state.State) bool {
				return len(st.Turns[0].Steps) == 1 && st.Turns[0].Retain == state.RetainPinned
			},
		},
		{
			"meta, extras, tools", func(st *state.State) {
				st.Meta.UpdatedAt = "2031-02-03T04:05:06Z"
				st.Extras = state.EmptyObject().With("k", state.StringValue("v"))
				st.Tools = []state.Tool{{Name: "t"}}
			},
			func(st *state.State) bool {
				return st.Meta.UpdatedAt == "2031-02-03T04:05:06Z" && st.Extras.String() == `{"k":"v"}` && st.Tools[0].Name == "t"
			},
		},
		{
			"a section", func(st *state.State) {
				_ = st.SystemPrompt.Add(state.Section{Name: "n", Title: "T", Stability: state.Volatile, Text: "x"})
			},
			func(st *state.State) bool { return len(st.SystemPrompt.Sections) == 2 },
		},
	}
	for _, tt := range tests {
		for _, event := range editEvents {
			t.Run(tt.name+"/"+string(event), func(t *testing.T) {
				t.Parallel()
				r := editing(t, event, func(e *hooks.Event) error { tt.do(e.Edit); return nil })
				before := r.st.Turns
				wantStatus(t, r.run(t, said("two")), state.StatusCompleted)
				if !tt.check(r.st) {
					t.Errorf("the edit is lost: %+v", r.st)
				}
				if len(before) != 1 || len(before[0].Steps) != 2 || before[0].Retain != state.RetainNormal {
					t.Error("the edit reached an older snapshot")
				}
			})
		}
	}
}

// Whatever breaks a rule is taken back whole, together with what other hooks did at
// the same event.
func TestEditsAreTakenBack(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	plain := func(f func(*state.State)) func(*hooks.Event) error {
		return func(e *hooks.Event) error { f(e.Edit); return nil }
	}
	tests := []struct {
		name string
		do   func(*hooks.Event) error
	}{
		{"error", func(*hooks.Event) error { return boom }},
		{"panic", func(*hooks.Event) error { panic("boom") }},
		{"no state", func(e *hooks.Event) error { e.Edit = nil; return nil }},
		{"no loop", plain(func(st *state.State) { st.Loop = nil })},
		{"status", plain(func(st *state.State) { st.Loop.Status = state.StatusIdle })},
		{"phase", plain(func(st *state.State) { st.Loop.Phase = state.PhaseModel })},
		{"count", plain(func(st *state.State) { st.Loop.CompletedExchanges = 0 })},
		{"sequence", plain(func(st *state.State) { st.Loop.CommittedSequence++ })},
		{"loop error", plain(func(st *state.State) { st.Loop.Error = "x" })},
		{"pending results", plain(func(st *state.State) { st.Loop.Pending = []state.Result{{}} })},
		{"unknown loop members", plain(func(st *state.State) { st.Loop.Unknown = state.EmptyObject() })},
		{"no turns", plain(func(st *state.State) { st.Turns = nil })},
		{"nil turn", plain(func(st *state.State) { st.Turns = []*state.Turn{nil} })},
		{"assignment to an element", plain(func(st *state.State) { st.Turns[0] = &state.Turn{} })},
		{"assignment to a tool", func(e *hooks.Event) error { e.Edit.Tools[0].Name = "changed"; return boom }},
		{"assignment to a section", func(e *hooks.Event) error { e.Edit.SystemPrompt.Sections[0].Text = "changed"; return boom }},
		{"unanswered calls", plain(func(st *state.State) {
			turn, step := *st.Turns[0], *st.Turns[0].Steps[0]
			step.Returns = step.Returns[:1]
			turn.Steps = []*state.Step{&step}
			st.Turns = []*state.Turn{&turn}
		})},
		{"results in another order", plain(func(st *state.State) {
			turn, step := *st.Turns[0], *st.Turns[0].Steps[0]
			step.Returns = []*state.Message{step.Returns[1], step.Returns[0]}
			turn.Steps = []*state.Step{&step}
			st.Turns = []*state.Turn{&turn}
		})},
		{"heading level", plain(func(st *state.State) { st.SystemPrompt.HeadingLevel = 9 })},
	}
	for _, tt := range tests {
		for _, event := range editEvents {
			t.Run(tt.name+"/"+string(event), func(t *testing.T) {
				t.Parallel()
				var before *state.State
				r := editing(t, event, nil)
				r.hooks(
					at(event, func(e *hooks.Event) error {
						before = reload(t, e.State)
						e.Edit.Meta.UpdatedAt = "never"
						e.Edit.Turns = slices.Clone(e.Edit.Turns)
						return nil
					}),
					at(event, tt.do),
				)
				wantStatus(t, r.run(t, said("two")), state.StatusFailed)
				after := r.st.Clone()
				after.Loop = before.Loop
				if diff := cmp.Diff(before, after, exported); diff != "" {
					t.Errorf("not taken back:\n%s", diff)
				}
				if event == hooks.EditOnStepFinished && strings.Contains(r.log.String(), "\nStepFinished") {
					t.Errorf("the run went on:\n%s", r.log)
				}
			})
		}
	}
}

func TestCandidate(t *testing.T) {
	t.Parallel()
	prompt := state.SystemPrompt{HeadingLevel: 2, Sections: []state.Section{{Name: "a", Title: "A", Stability: state.Volatile, Text: "x"}}}
	r := newRig(says("hello")).hooks(at(hooks.BeforeModel, func(e *hooks.Event) error {
		e.Candidate.SystemPrompt = prompt
		e.Candidate.Tools = []state.Tool{{Name: "t"}}
		e.Candidate.Extras = state.EmptyObject()
		return nil
	}))
	wantStatus(t, r.run(t, said("hi")), state.StatusCompleted)
	for _, st := range []*state.State{r.st, r.model.seen[0]} {
		if st.SystemPrompt.Sections[0].Name != "a" || st.Tools[0].Name != "t" || !st.Extras.IsSet() {
			t.Errorf("not committed: %+v", st)
		}
	}
}

func TestCandidateIsTakenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(*hooks.Candidate) *hooks.Candidate
	}{
		{"prompt that does not render", func(c *hooks.Candidate) *hooks.Candidate { c.SystemPrompt.HeadingLevel = 0; return c }},
		{"none", func(*hooks.Candidate) *hooks.Candidate { return nil }},
		{"panic", func(c *hooks.Candidate) *hooks.Candidate {
			c.Tools[0].Name = "y"
			c.SystemPrompt.Sections[0].Text = "y"
			panic("boom")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(says("hello"))
			r.st.Tools = []state.Tool{{Name: "x"}}
			r.st.SystemPrompt.Sections = []state.Section{{Name: "s", Stability: state.Immutable, Text: "x"}}
			r.hooks(at(hooks.BeforeModel, func(e *hooks.Event) error {
				e.Candidate.Extras = state.EmptyObject()
				e.Candidate = tt.do(e.Candidate)
				return nil
			}))
			wantStatus(t, r.run(t, said("hi")), state.StatusFailed)
			if r.st.Extras.IsSet() || r.st.SystemPrompt.HeadingLevel != 2 || r.st.Tools[0].Name != "x" || r.st.SystemPrompt.Sections[0].Text != "x" || len(r.model.seen) > 0 {
				t.Errorf("not taken back: %+v", r.st)
			}
		})
	}
}

func TestInputCanBeReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(says("hello")).hooks(at(hooks.BeforeInput, func(e *hooks.Event) error {
		e.Input = said("HI")
		return nil
	}))
	wantStatus(t, r.run(t, said("hi")), state.StatusCompleted)
	if got := r.st.Turns[0].UserInput.Text(); got != "HI" {
		t.Errorf("input %q", got)
	}
	for _, bad := range []*state.Message{nil, response("x"), {Type: state.UserInput, Result: &state.Result{}}} {
		r := newRig(says("hello")).hooks(at(hooks.BeforeInput, func(e *hooks.Event) error {
			e.Input = bad
			return nil
		}))
		wantStatus(t, r.run(t, said("hi")), state.StatusFailed)
		if len(r.st.Turns) != 0 {
			t.Errorf("%+v was integrated", bad)
		}
	}
}

// Ids that a hook brings into the history count as used.
func TestEditedIDsAreTaken(t *testing.T) {
	t.Parallel()
	r := newRig(says("", "read:a"), says("", "read:b"), says("done"))
	r.hooks(at(hooks.EditOnStepFinished, func(e *hooks.Event) error {
		if len(e.Edit.Turns[0].Steps) > 1 {
			return nil
		}
		turn, step := *e.Edit.Turns[0], *e.Edit.Turns[0].Steps[0]
		answered, result := *step.ModelResponse, *step.Returns[0].Result
		answered.Calls = slices.Clone(answered.Calls)
		answered.Calls[0].ID, result.Call.ID = "b", "b"
		step.ModelResponse = &answered
		step.Returns = []*state.Message{state.NewResultMessage(result)}
		turn.Steps = []*state.Step{&step}
		e.Edit.Turns = []*state.Turn{&turn}
		return nil
	}))
	wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
	if got := r.st.Turns[0].Steps[1].ModelResponse.Calls[0].ID; got != "b~2" {
		t.Errorf("id %q", got)
	}
}
