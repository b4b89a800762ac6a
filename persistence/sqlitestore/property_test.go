package sqlitestore_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

// editor makes random copy-on-write edits of a state: those of the loop, of hooks, of
// compaction and of a restore.
type editor struct {
	t  *rapid.T
	st *state.State
	n  int
}

func (e *editor) text() string {
	e.n++
	return fmt.Sprintf("%d %s", e.n, rapid.SampledFrom([]string{"", "ñ", "\x00\u2028", "日本\n", "\"}"}).Draw(e.t, "text"))
}

func (e *editor) object() state.Object {
	switch rapid.IntRange(0, 3).Draw(e.t, "object") {
	case 0:
		return state.EmptyObject()
	case 1:
		return state.EmptyObject().With("zz\u0001"+e.text(), state.StringValue(e.text())).With("~", state.StringValue("1"))
	}
	return state.Object{}
}

func (e *editor) content() state.Content {
	c := state.Content{Raw: e.text(), Extras: e.object(), Unknown: e.object()}
	if rapid.Bool().Draw(e.t, "typed") {
		c.Type, c.Modality = state.TypeBinary, state.ModalityImage
	}
	return c
}

func (e *editor) call() state.Call {
	return state.Call{Type: state.SerialWrite, ID: e.text(), Name: e.text(), Arguments: e.object().Value, Extras: e.object(), Unknown: e.object()}
}

func (e *editor) message() *state.Message {
	if rapid.IntRange(0, 9).Draw(e.t, "nil") == 0 {
		return nil
	}
	m := &state.Message{Type: state.InvokeReturn, Role: e.text(), Extras: e.object(), Unknown: e.object()}
	for range rapid.IntRange(0, 2).Draw(e.t, "parts") {
		m.Content = append(m.Content, e.content())
	}
	for range rapid.IntRange(0, 2).Draw(e.t, "calls") {
		m.Calls = append(m.Calls, e.call())
	}
	m.CallsSet = rapid.Bool().Draw(e.t, "calls set")
	switch rapid.IntRange(0, 3).Draw(e.t, "kind") {
	case 0:
		c := e.content()
		m.Reasoning = &c
		m.Cost = &state.TokenCost{Prompt: 1<<64 - 1, CacheHit: 3, Unknown: e.object()}
	case 1:
		c := e.content()
		m.ActionStatus = &c
		m.Result = &state.Result{Call: e.call(), Output: e.content(), Extras: e.object(), Unknown: e.object()}
	case 2:
		return state.NewResultMessage(state.Result{Call: e.call(), Output: e.content(), Unknown: e.object()})
	}
	return m
}

func (e *editor) step() *state.Step {
	s := &state.Step{ModelResponse: e.message(), Retain: state.RetainPinned, CommitSequence: uint64(e.n), Extras: e.object(), Unknown: e.object()}
	for range rapid.IntRange(0, 2).Draw(e.t, "returns") {
		s.Returns = append(s.Returns, e.message())
	}
	s.ReturnsSet = rapid.Bool().Draw(e.t, "returns set")
	return s
}

func (e *editor) turn() *state.Turn {
	t := &state.Turn{UserInput: e.message(), Extras: e.object(), Unknown: e.object()}
	for range rapid.IntRange(0, 3).Draw(e.t, "steps") {
		t.Steps = append(t.Steps, e.step())
	}
	return t
}

// changedStep is the step with one thing about it changed.
func (e *editor) changedStep(s *state.Step) *state.Step {
	c := *s
	switch rapid.IntRange(0, 4).Draw(e.t, "step change") {
	case 0:
		c.Retain, c.Extras = state.RetainDiscardable, e.object()
	case 1:
		c.Returns = append(slices.Clip(c.Returns), e.message())
	case 2:
		c.Returns, c.ReturnsSet = nil, true
	case 3:
		c.ModelResponse = e.message()
	default:
		if len(c.Returns) > 0 {
			c.Returns = slices.Clone(c.Returns)
			c.Returns[0] = e.message()
		}
	}
	return &c
}

func (e *editor) changedTurn(t *state.Turn) *state.Turn {
	c := *t
	c.Steps = slices.Clone(c.Steps)
	at := rapid.IntRange(0, len(c.Steps)).Draw(e.t, "step")
	switch kind := rapid.IntRange(0, 4).Draw(e.t, "turn change"); {
	case kind == 0:
		c.Retain, c.Extras, c.Unknown = state.RetainDiscardable, e.object(), e.object()
	case kind == 1:
		c.UserInput = e.message()
	case kind == 2:
		c.Steps = slices.Insert(c.Steps, at, e.step())
	case at == len(c.Steps):
	case kind == 3:
		c.Steps = slices.Delete(c.Steps, at, at+1)
	default:
		c.Steps[at] = e.changedStep(c.Steps[at])
	}
	return &c
}

func (e *editor) edit() {
	st, turns := e.st, slices.Clone(e.st.Turns)
	at := rapid.IntRange(0, len(turns)).Draw(e.t, "at")
	switch kind := rapid.IntRange(0, 9).Draw(e.t, "edit"); {
	case kind <= 2:
		st.AppendTurn(e.turn())
	case kind == 3:
		st.AppendStep(e.step())
	case kind == 4 && st.LastStep() != nil:
		st.ReplaceLastStep(e.changedStep(st.LastStep()))
	case kind == 5 && at < len(turns):
		turns[at] = e.changedTurn(turns[at])
		st.Turns = turns
	case kind == 6:
		st.Turns = slices.Insert(turns, at, e.turn())
	case kind == 7:
		st.Turns = slices.Delete(turns, at, rapid.IntRange(at, len(turns)).Draw(e.t, "to"))
	case kind == 8:
		e.surroundings()
	default:
		if len(turns) > 1 {
			turns[0], turns[len(turns)-1] = turns[len(turns)-1], turns[0]
			st.Turns = turns
		}
	}
}

// surroundings changes what is not a turn.
func (e *editor) surroundings() {
	st := e.st
	switch rapid.IntRange(0, 4).Draw(e.t, "surroundings") {
	case 0:
		st.Extras, st.Unknown, st.Meta.Error = e.object(), e.object(), e.object()
	case 1:
		p := state.SystemPrompt{HeadingLevel: e.n, Unknown: e.object()}
		_ = p.Add(state.Section{Name: "a", Text: e.text(), Unknown: e.object()})
		_ = p.Add(state.Section{Name: "b", Stability: state.Volatile, Text: e.text()})
		st.SystemPrompt = p
	case 2:
		remote := e.text()
		st.Tools = []state.Tool{{Name: e.text(), RemoteType: &remote, ArgumentSchema: e.object()}, {Description: e.text(), Extras: e.object()}}
	case 3:
		st.Loop = nil
	default:
		st.Loop = &state.LoopProgress{Status: state.StatusRunning, Phase: state.PhaseProjection, CommittedSequence: uint64(e.n), Unknown: e.object()}
		for range rapid.IntRange(0, 2).Draw(e.t, "pending") {
			st.Loop.Pending = append(st.Loop.Pending, state.Result{Call: e.call(), Output: e.content()})
		}
	}
}

// afterJSON is the document that the JSON store would write after loading st's.
func afterJSON(t *rapid.T, st *state.State) string {
	var out bytes.Buffer
	if err := state.Encode(&out, st); err != nil {
		t.Fatal(err)
	}
	again, err := state.Decode(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := state.Encode(&out, again); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func encoded(t *rapid.T, st *state.State) string {
	var out bytes.Buffer
	if err := state.Encode(&out, st); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Whatever is done to a state between two saves, in this process or the next: the
// tables hold what the JSON document would hold.
func TestTablesAgreeWithTheState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(memory(), "sqlitestore-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		e := &editor{t: t, st: storetest.Session(1)}
		for range rapid.IntRange(1, 2).Draw(t, "owners") {
			e.owner(root)
		}
	})
}

// owner opens the session, edits and saves, and closes it.
func (e *editor) owner(root string) {
	t := e.t
	store, err := sqlitestore.Open(config(root))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if rapid.IntRange(0, 4).Draw(t, "load") > 0 { // otherwise all is written anew
		st, err := store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st != nil {
			e.st = st
		}
	}
	for range rapid.IntRange(1, 5).Draw(t, "saves") {
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			e.edit()
		}
		b := rapid.SampledFrom(storetest.Boundaries()).Draw(t, "boundary")
		if err := store.Save(t.Context(), e.st.Clone(), b); err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 2).Draw(t, "read") == 0 {
			e.mustRead(root)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	e.mustHold(root)
}

func (e *editor) mustHold(root string) {
	store, err := sqlitestore.Open(config(root))
	if err != nil {
		e.t.Fatal(err)
	}
	defer store.Close()
	st, err := store.Load(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	if got, want := encoded(e.t, st), afterJSON(e.t, e.st); got != want {
		e.t.Fatalf("loaded\n%s\nwant\n%s", got, want)
	}
}

func (e *editor) mustRead(root string) {
	var out bytes.Buffer
	if _, err := sqlitestore.Read(e.t.Context(), statePath(root), &out); err != nil {
		e.t.Fatal(err)
	}
	st, err := state.Decode(out.Bytes())
	if err != nil {
		e.t.Fatal(err)
	}
	if got, want := encoded(e.t, st), afterJSON(e.t, e.st); got != want {
		e.t.Fatalf("read\n%s\nwant\n%s", got, want)
	}
}
