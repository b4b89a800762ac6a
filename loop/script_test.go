package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simplex/hooks"
	"simplex/loop"
	"simplex/state"
)

// script is a model that gives its answers one after the other.
type script struct {
	answers []answer
	log     *journal
	seen    []*state.State
}

type answer func(ctx context.Context) (*state.Message, error)

func (s *script) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	s.log.add("model")
	s.seen = append(s.seen, conv)
	if len(s.answers) == 0 {
		return nil, errors.New("the script is over")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next(ctx)
}

// says answers with a text and calls given as "name:id"; an id may have a class
// after a slash in the name, which toolbox understands.
func says(text string, calls ...string) answer {
	return func(context.Context) (*state.Message, error) { return response(text, calls...), nil }
}

func costing(prompt, generated uint64, a answer) answer {
	return func(ctx context.Context) (*state.Message, error) {
		m, err := a(ctx)
		m.Cost = &state.TokenCost{Prompt: prompt, Generated: generated}
		return m, err
	}
}

func fails(err error) answer {
	return func(context.Context) (*state.Message, error) { return nil, err }
}

func response(text string, calls ...string) *state.Message {
	m := &state.Message{Type: state.ModelResponse, Content: []state.Content{part(text)}}
	for _, c := range calls {
		name, id, _ := strings.Cut(c, ":")
		m.Calls = append(m.Calls, state.Call{
			Type: state.ReadOnly, Security: state.DefaultDeny,
			ID: id, Name: name, Arguments: state.EmptyObject().Value,
		})
		m.CallsSet = true
	}
	return m
}

func part(text string) state.Content {
	return state.Content{Type: state.TypeText, Modality: state.ModalityText, Raw: text}
}

func said(text string) *state.Message {
	return &state.Message{Type: state.UserInput, Role: "user", Content: []state.Content{part(text)}}
}

// toolbox is a set of tools named by what they do.
type toolbox struct {
	log *journal
	do  map[string]func(state.Call) state.Result
}

// classes: a tool name that starts with one of these letters has that class.
func class(name string) state.InvokeType {
	switch name[0] {
	case 'r':
		return state.ReadOnly
	case 'p':
		return state.ParallWrite
	case 'x':
		return "unheard_of"
	}
	return state.SerialWrite
}

func (b *toolbox) Prepare(c state.Call, _ func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	b.log.add("settle " + c.Name)
	if c.Name == "prepare-panics" {
		panic("no idea")
	}
	c.Type, c.Security = class(c.Name), state.Trusted
	if c.Name == "gives-no-run" {
		return c, nil
	}
	return c, func(context.Context) state.Result {
		b.log.add("run " + c.Name)
		if do := b.do[c.Name]; do != nil {
			return do(c)
		}
		return state.Result{Call: c, Output: part("done " + c.Name)}
	}
}

// journal is what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) String() string { return strings.Join(j.lines, "\n") }

// hook is a handler of one test.
type hook func(e *hooks.Event) error

func (h hook) Name() string { return "test" }

func (h hook) Handle(_ context.Context, e *hooks.Event) error { return h(e) }

func at(name hooks.Name, f func(e *hooks.Event) error) hook {
	return func(e *hooks.Event) error {
		if e.Name != name {
			return nil
		}
		return f(e)
	}
}

// observe notes each event with the progress as it stands and the results of the last step.
func observe(log *journal) hook {
	return func(e *hooks.Event) error {
		p := e.State.Loop
		line := fmt.Sprintf("%s %s/%s x%d s%d", e.Name, p.Status, p.Phase, p.CompletedExchanges, p.CommittedSequence)
		if n := len(p.Pending); n > 0 {
			line += fmt.Sprintf(" pending%d", n)
		}
		log.add(line)
		return nil
	}
}

// rig is everything a test runs the loop with.
type rig struct {
	log   *journal
	model *script
	tools *toolbox
	st    *state.State
	cfg   loop.Config
}

func newRig(answers ...answer) *rig {
	log := &journal{}
	r := &rig{
		log:   log,
		model: &script{answers: answers, log: log},
		tools: &toolbox{log: log, do: map[string]func(state.Call) state.Result{}},
		st:    state.New("s1", time.Unix(0, 0)),
	}
	r.cfg = loop.Config{Model: r.model, Tools: r.tools, MaxExchanges: 10}
	r.hooks()
	return r
}

// hooks puts handlers before the observer.
func (r *rig) hooks(first ...hooks.Handler) *rig {
	r.cfg.Hooks = hooks.NewRegistry(append(slices.Clone(first), observe(r.log))...)
	return r
}

func (r *rig) run(t testing.TB, input *state.Message) loop.Outcome {
	t.Helper()
	out := loop.Run(t.Context(), r.st, input, r.cfg)
	checkState(t, r.st)
	return out
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// checkState is what holds after every run, whatever happened in it.
func checkState(t fataler, st *state.State) {
	t.Helper()
	if err := state.Check(st); err != nil {
		t.Fatalf("structure: %v", err)
	}
	if st.Loop.Phase != state.PhaseReady {
		t.Fatalf("phase %s after a run", st.Loop.Phase)
	}
	ids := map[string]bool{}
	var sequence uint64
	for _, turn := range st.Turns {
		for _, step := range turn.Steps {
			if sequence != 0 && step.CommitSequence != sequence+1 {
				t.Fatalf("commit sequence %d after %d", step.CommitSequence, sequence)
			}
			sequence = step.CommitSequence
			calls := step.ModelResponse.Calls
			if len(calls) != len(step.Returns) {
				t.Fatalf("%d results for %d calls", len(step.Returns), len(calls))
			}
			for i, c := range calls {
				if c.ID == "" || ids[c.ID] {
					t.Fatalf("call id %q is not unique", c.ID)
				}
				ids[c.ID] = true
				if q := step.Returns[i].Result.Call; q.ID != c.ID || q.Name != c.Name {
					t.Fatalf("result of %s answers %s", c.ID, q.ID)
				}
			}
		}
	}
	if sequence != 0 && sequence != st.Loop.CommittedSequence {
		t.Fatalf("last step has sequence %d, the loop %d", sequence, st.Loop.CommittedSequence)
	}
}

// outputs are the results of the last step as texts.
func outputs(st *state.State) []string {
	turn := st.Turns[len(st.Turns)-1]
	var out []string
	for _, m := range turn.Steps[len(turn.Steps)-1].Returns {
		out = append(out, m.Result.Call.ID+": "+m.Result.Output.Raw)
	}
	return out
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	if got != want {
		t.Errorf("got:\n%s\n\nwant:\n%s", got, want)
	}
}

func wantStatus(t *testing.T, out loop.Outcome, want state.LoopStatus) {
	t.Helper()
	if out.Status != want {
		t.Errorf("status %s (%v), want %s", out.Status, out.Err, want)
	}
	if (out.Err != nil) != (want == state.StatusFailed) || (out.Stage != "") != (want == state.StatusFailed) {
		t.Errorf("error %v at stage %q with status %s", out.Err, out.Stage, want)
	}
}
