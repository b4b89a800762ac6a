package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"simplex/hooks"
	"simplex/loop"
	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

func TestDeltasGiveWay(t *testing.T) {
	t.Parallel()
	o := newOutbox(1, func() int { return 0 })
	o.offer(wire.Event{Name: wire.EventModelDelta}, wire.ModelDelta{Kind: "text", Text: "x"})
	if err := o.publish(preview, "", wire.Event{Name: wire.EventModelResponse}); err != nil || o.omitted.Display != 0 {
		t.Errorf("an answer was left out for a piece of it: %v", err)
	}
	o = newOutbox(wire.EventCapacity, func() int { return 0 })
	if o.offer(wire.Event{Name: wire.EventModelDelta}, wire.ModelDelta{Kind: "text", Text: strings.Repeat("x", wire.MaxEvent)}) {
		t.Error("a delta over the limit of an event was admitted")
	}
}

type failingPlugin struct{ at hooks.Name }

func (failingPlugin) Name() string { return "plugin" }

func (f failingPlugin) Handle(_ context.Context, e *hooks.Event) error {
	if e.Name == f.at {
		return errors.New("plugin died")
	}
	return nil
}

// onceCalling calls a tool in its first answer.
type onceCalling struct{ asked int }

func (m *onceCalling) Exchange(context.Context, *state.State) (*state.Message, error) {
	m.asked++
	answer := state.NewTextMessage(state.ModelResponse, "assistant", "ok")
	if m.asked == 1 {
		answer.Calls = []state.Call{{ID: "c1", Name: "x", Arguments: state.EmptyObject().Value}}
		answer.CallsSet = true
	}
	return answer, nil
}

type countedTool struct{ ran int }

func (c *countedTool) Prepare(call state.Call, _ func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	return call, func(context.Context) state.Result {
		c.ran++
		return state.Result{Call: call, Output: state.TextContent("done")}
	}
}

// kept is a store that remembers the phase of each save.
type kept struct{ phases []state.LoopPhase }

func (*kept) Load(context.Context) (*state.State, error) { return nil, nil }
func (*kept) Format() string                             { return "json" }
func (*kept) Close() error                               { return nil }
func (k *kept) Save(_ context.Context, st *state.State, _ persistence.Boundary) error {
	k.phases = append(k.phases, st.Loop.Phase)
	return nil
}

// A plugin that fails stops the run; what had happened until then is saved and told.
func TestFailingPluginHidesNothing(t *testing.T) {
	t.Parallel()
	for at, want := range map[hooks.Name]wire.EventName{
		hooks.InputCommitted: wire.EventInputCommitted, hooks.ModelCommitted: wire.EventModelResponse,
		hooks.ToolResultsCheckpoint: wire.EventToolCalls, hooks.ToolResultsCommitted: wire.EventToolResults,
	} {
		disk := &kept{}
		app, told := testApplication(disk)
		app.session.policy = persistence.Policy{SkipRunFinished: true}
		app.observer = &observer{app: app}
		app.pager = display.NewPager("w")
		tool := &countedTool{}
		out := loop.Run(t.Context(), app.session.st, state.NewTextMessage(state.UserInput, "user", "hi"), loop.Config{
			Model: &onceCalling{}, Tools: tool, MaxExchanges: 9, Hooks: hooks.NewRegistry(failingPlugin{at}, app.observer),
		})
		if out.Status != state.StatusFailed || out.Err == nil {
			t.Errorf("%s: the run is %s, %v", at, out.Status, out.Err)
		}
		if !slices.ContainsFunc(told(), func(e string) bool { return strings.HasPrefix(e, string(want)+" ") }) {
			t.Errorf("%s: %s was not told", at, want)
		}
		if n := len(disk.phases); tool.ran > 0 && disk.phases[n-1] == state.PhaseTools {
			t.Errorf("%s: the tool ran, and the disk does not know", at)
		}
	}
}

// Under one revision readers see one history, however fast they look.
func TestRevisionStandsForOneHistory(t *testing.T) {
	t.Parallel()
	app, told := testApplication(nil)
	app.observer = &observer{app: app}
	stop, looked := make(chan struct{}), make(chan map[uint64]int)
	go func() {
		turns := map[uint64]int{}
		defer func() { looked <- turns }()
		for {
			s := app.session.snap.Load()
			if n, ok := turns[s.revision]; ok && n != len(s.state.Turns) {
				t.Errorf("revision %d has %d turns and %d", s.revision, n, len(s.state.Turns))
				return
			}
			turns[s.revision] = len(s.state.Turns)
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	st := app.session.st
	for range 2000 {
		input := state.NewTextMessage(state.UserInput, "user", "x")
		st.AppendTurn(&state.Turn{UserInput: input})
		if err := app.observer.Handle(t.Context(), &hooks.Event{Name: hooks.InputCommitted, State: st.Clone(), Input: input}); err != nil {
			t.Fatal(err)
		}
		told()
	}
	close(stop)
	if len(<-looked) == 0 {
		t.Error("nobody looked")
	}
}
