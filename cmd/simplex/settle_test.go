package main

import (
	"strings"
	"testing"

	"simplex/llm/offline"
	"simplex/state"
)

// TestSettleAfterAKill is the whole way back: a worker is killed while a tool runs, the
// next one refuses inputs, the operator settles, the one after that goes on.
func TestSettleAfterAKill(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects; echo up >ready; exec sleep 5", 600000)), offline.Reply{Text: "ok"})
	wait := meet(t, r.dir, "ready")
	p := r.online()
	r.payload(message("q1", "work", mode("approve")))
	wait("ready")
	p.kill()

	p = r.restarted()
	r.payload(message("q2", "go on", nil))
	said := r.expect("input_rejected").Field("message")
	for _, part := range []string{"effects are unknown", "run_command (call c1)", "simplex state settle --config FILE --session s1", "state.json"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q does not say %q", said, part)
		}
	}
	saved := r.saved()
	settle := func(code int) *program {
		s := launch(t, r.dir, "state", "settle", "--config", r.configuration(), "--session", "s1", "--result", "It ran once.")
		s.exits(code)
		return s
	}
	if s := settle(1); !strings.Contains(s.stderr.String(), "in use") || r.saved() != saved {
		t.Errorf("beside a worker: %s", s.stderr)
	}
	p.stop()
	if s := settle(0); !strings.Contains(s.stdout.String(), "call c1 of run_command") {
		t.Errorf("settle says %q", s.stdout)
	}
	p = r.restarted()
	if !r.admitted("q3") {
		t.Error("the settled session takes no input")
	}
	if asked := r.model.last(); !strings.Contains(asked, "It ran once.") || strings.Count(asked, `"role":"tool"`) != 1 {
		t.Errorf("the model is asked with %s", asked)
	}
	p.stop()
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects %v: something ran again", got)
	}
}

// interrupted is a state whose last step has these calls and results.
func interrupted(phase state.LoopPhase, results []string, ids ...string) *state.State {
	st := &state.State{Loop: state.NewLoop()}
	st.Loop.Phase = phase
	step := &state.Step{ModelResponse: &state.Message{Type: state.ModelResponse}}
	for _, id := range ids {
		step.ModelResponse.Calls = append(step.ModelResponse.Calls, state.Call{ID: id, Name: "t"})
	}
	for _, id := range results {
		step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: state.Call{ID: id, Name: "t"}, Output: state.TextContent("there")}))
	}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "hi")})
	st.AppendStep(step)
	return st
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		st      *state.State
		settled string // ids; "-": refused
		pending string // texts
	}{
		"all":                  {interrupted(state.PhaseTools, nil, "a", "b"), "a b", "said said"},
		"blocked":              {interrupted(state.PhaseBlocked, nil, "a"), "a", "said"},
		"some by hand":         {interrupted(state.PhaseTools, []string{"a"}, "a", "b"), "b", "there said"},
		"the second by hand":   {interrupted(state.PhaseTools, []string{"b"}, "a", "b"), "a", "said there"},
		"every one by hand":    {interrupted(state.PhaseTools, []string{"a"}, "a"), "", "there"},
		"no call":              {interrupted(state.PhaseTools, nil), "", ""},
		"a stranger by hand":   {interrupted(state.PhaseTools, []string{"x"}, "a"), "-", ""},
		"out of order by hand": {interrupted(state.PhaseTools, []string{"b", "a"}, "a", "b"), "-", ""},
		"ready":                {interrupted(state.PhaseReady, []string{"a"}, "a"), "-", ""},
		"no progress":          {&state.State{}, "-", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, err := settle(c.st, "said")
			if err != nil {
				if c.settled != "-" {
					t.Error(err)
				}
				return
			}
			var ids, texts []string
			for _, call := range calls {
				ids = append(ids, call.ID)
			}
			for _, r := range c.st.Loop.Pending {
				texts = append(texts, r.Output.Raw)
			}
			if strings.Join(ids, " ") != c.settled || strings.Join(texts, " ") != c.pending {
				t.Errorf("settled %v, pending %v, want %q and %q", ids, texts, c.settled, c.pending)
			}
			if phase := c.st.Loop.Phase; phase != state.PhaseProjection && (phase != state.PhaseReady || c.pending != "") {
				t.Errorf("phase %s", phase)
			}
		})
	}
}
