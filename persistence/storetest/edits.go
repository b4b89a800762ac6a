package storetest

import (
	"slices"
	"testing"

	"simplex/persistence"
	"simplex/state"
)

// edits are what the loop, hooks, compaction and a start do to a state between saves, in
// an order in which each finds something to change.
func edits() []func(st *state.State) {
	result := state.Result{Call: state.Call{ID: "1", Name: "n"}, Output: state.TextContent("out")}
	return []func(*state.State){
		func(st *state.State) { // results are there, but not yet projected
			loop := *st.Loop
			loop.Phase, loop.Pending = state.PhaseProjection, []state.Result{result, result}
			st.Loop = &loop
		},
		func(st *state.State) { // and now they are
			step := *st.LastStep()
			step.Returns, step.ReturnsSet = []*state.Message{state.NewResultMessage(result)}, true
			st.ReplaceLastStep(&step)
			st.Loop = state.NewLoop()
		},
		func(st *state.State) {
			st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "", "more")})
		},
		func(st *state.State) { // a hook rewrites a turn in the middle, into a longer one
			t := *st.Turns[2]
			t.Steps = append(slices.Clip(t.Steps), t.Steps...)
			t.Retain = state.RetainPinned
			st.Turns = slices.Clone(st.Turns)
			st.Turns[2] = &t
		},
		func(st *state.State) { // much longer, so that it needs the place of those behind it
			t := *st.Turns[1]
			for range 100 {
				t.Steps = append(slices.Clip(t.Steps), t.Steps[0])
			}
			st.Turns = slices.Clone(st.Turns)
			st.Turns[1] = &t
		},
		func(st *state.State) { st.Turns = slices.Delete(slices.Clone(st.Turns), 1, 3) },
		func(st *state.State) { // and puts one in front
			st.Turns = slices.Insert(slices.Clone(st.Turns), 0, &state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "first")})
		},
		func(st *state.State) { // the catalogue and the prompt of a later start
			remote := "hub"
			st.Tools = []state.Tool{{Name: "t", Description: "d", RemoteType: &remote}}
			st.SystemPrompt = state.SystemPrompt{HeadingLevel: 3}
			_ = st.SystemPrompt.Add(state.Section{Name: "s", Text: "text"})
		},
		func(st *state.State) { st.Extras = state.EmptyObject().With("events", state.StringValue("x")) },
		func(st *state.State) { st.Turns = st.Turns[len(st.Turns)-1:] }, // compaction
		func(st *state.State) { st.Turns, st.Loop, st.Tools = nil, nil, nil },
		func(st *state.State) { AddTurn(st, "anew") },
	}
}

func editedHistory(t *testing.T, open Open) {
	root := t.TempDir()
	st := Session(6)
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	mustSave(t, store, st.Clone(), persistence.RunFinished)
	for i, edit := range edits() {
		edit(st)
		mustSave(t, store, st.Clone(), persistence.StepFinished)
		if i%2 == 0 { // the next edit is saved by the owner that saved this one
			continue
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		mustHold(t, open, root, st)
		store = mustOpen(t, open, Config{Root: root, SessionID: SessionID})
		loaded, err := store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		*st = *loaded
	}
	_ = store.Close()
	mustHold(t, open, root, st)
}
