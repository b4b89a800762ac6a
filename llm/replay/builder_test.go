package replay_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

// plain is the smallest Form: texts, and the ids of calls.
type plain struct {
	written *int // records that were written
	mode    string
}

var errPoison = errors.New("poison")

func (f *plain) Head(settings state.Object, _ []state.Tool) ([]byte, bool, error) {
	mode, _ := replay.Member(settings, "mode")
	anew := mode != f.mode
	f.mode = mode
	return []byte("{" + mode + " "), anew, nil
}

func (f *plain) Prompt(text string) []byte { return []byte(text + "[") }

func (f *plain) User(dst []byte, m *state.Message) ([]byte, error) {
	*f.written++
	return append(append(dst, ','), m.Text()...), nil
}

func (f *plain) Step(dst []byte, step *state.Step, ids *replay.IDs) ([]byte, error) {
	*f.written++
	dst = append(dst, ',')
	for _, c := range step.ModelResponse.Calls {
		dst = append(append(dst, ids.Take(c.ID)...), ';')
		if c.Name == "poison" {
			return nil, errPoison
		}
	}
	return dst, nil
}

type builds struct {
	*testing.T
	b       *replay.Builder
	written int
}

func newBuilds(t *testing.T) *builds {
	out := &builds{T: t}
	out.b = replay.New(&plain{written: &out.written})
	return out
}

// wants builds and compares the body, and how many records were written for it.
func (b *builds) wants(st *state.State, body string, written int) {
	b.Helper()
	b.written = 0
	got, err := b.b.Build(state.EmptyObject(), st)
	if err != nil {
		b.Fatal(err)
	}
	if whole := string(bytes.Join(got, nil)); whole != body || b.written != written {
		b.Errorf("%d written: %s, want %d: %s", b.written, whole, written, body)
	}
}

func turn(text string) *state.Turn {
	return &state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", text)}
}

func step(names ...string) *state.Step {
	m := state.NewTextMessage(state.ModelResponse, "", "")
	for _, name := range names {
		m.Calls = append(m.Calls, state.Call{ID: "id", Name: name})
	}
	return &state.Step{ModelResponse: m}
}

func TestOnlyWhatIsNewIsWritten(t *testing.T) {
	t.Parallel()
	b, st := newBuilds(t), state.New("s", time.Unix(0, 0))
	st.AppendTurn(turn("one"))
	b.wants(st, "{ [one]}", 1)
	st.AppendStep(step("f", "f"))
	b.wants(st, "{ [one,id;id~2;]}", 1)
	st.AppendTurn(turn("two"))
	before := st.Clone()
	st.AppendStep(step("f"))
	b.wants(st, "{ [one,id;id~2;,two,id~3;]}", 2)
	b.wants(st, "{ [one,id;id~2;,two,id~3;]}", 0)
	b.wants(before, "{ [one,id;id~2;,two]}", 0) // back, and the id is free again
	before.AppendStep(step("g"))
	b.wants(before, "{ [one,id;id~2;,two,id~3;]}", 1)
	before.Turns = before.Turns[1:]
	b.wants(before, "{ [two,id;]}", 2)
}

// TestFailedStepLeavesNothing: neither bytes nor ids.
func TestFailedStepLeavesNothing(t *testing.T) {
	t.Parallel()
	b, st := newBuilds(t), state.New("s", time.Unix(0, 0))
	st.AppendTurn(turn("one"))
	good := st.Clone()
	st.AppendStep(step("f", "poison"))
	if _, err := b.b.Build(state.EmptyObject(), st); !errors.Is(err, errPoison) {
		t.Fatal(err)
	}
	good.AppendStep(step("f"))
	b.wants(good, "{ [one,id;]}", 1)
	st.Turns = append(st.Turns, nil)
	if _, err := b.b.Build(state.EmptyObject(), &state.State{Turns: []*state.Turn{nil}}); err == nil {
		t.Error("a missing turn is taken")
	}
}

// TestSettingsThatChangeTheRecords: everything is written anew.
func TestSettingsThatChangeTheRecords(t *testing.T) {
	t.Parallel()
	b, st := newBuilds(t), state.New("s", time.Unix(0, 0))
	st.AppendTurn(turn("one"))
	b.wants(st, "{ [one]}", 1)
	b.written = 0
	if _, err := b.b.Build(state.EmptyObject().With("mode", state.StringValue("x")), st); err != nil || b.written != 1 {
		t.Error(b.written, err)
	}
	if _, err := b.b.Build(state.EmptyObject(), state.New("s", time.Unix(0, 0))); !errors.Is(err, llm.ErrEmptyRequest) {
		t.Error(err)
	}
}

func TestForkedIDs(t *testing.T) {
	t.Parallel()
	b, st := newBuilds(t), state.New("s", time.Unix(0, 0))
	st.AppendTurn(turn("one"))
	st.AppendStep(step("f"))
	b.wants(st, "{ [one,id;]}", 2)
	for range 2 { // a fork leaves no trace
		ids := b.b.IDs()
		if got := []string{ids.Take("id"), ids.Take("id"), ids.Take(""), ids.Take("")}; got[0] != "id~2" || got[1] != "id~3" || got[2] != "call" || got[3] != "call~2" {
			t.Error(got)
		}
	}
}

func TestSentNames(t *testing.T) {
	t.Parallel()
	long := string(bytes.Repeat([]byte{'x'}, 100))
	for name, want := range map[string]string{
		"run_command": "run_command", "Run-2": "Run-2", "": "unnamed", "ns.tool/a b": "ns_tool_a_b",
		"ä\xff": "__", long: long[:64],
	} {
		if got := replay.SentName(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// TestLongHistories: a record that is replaced anywhere in a long history is noticed.
func TestLongHistories(t *testing.T) {
	t.Parallel()
	const turns = 200
	for _, at := range []int{0, 1, 63, 64, 65, 127, 128, 150, turns - 1} {
		b, st := newBuilds(t), state.New("s", time.Unix(0, 0))
		for range turns {
			st.AppendTurn(turn("x"))
		}
		if _, err := b.b.Build(state.EmptyObject(), st); err != nil {
			t.Fatal(err)
		}
		st.Turns = slices.Clone(st.Turns)
		st.Turns[at] = turn("y")
		b.written = 0
		body, err := b.b.Build(state.EmptyObject(), st)
		want := "{ [" + strings.Repeat("x,", at) + "y" + strings.Repeat(",x", turns-1-at) + "]}"
		if got := string(bytes.Join(body, nil)); err != nil || got != want || b.written != turns-at {
			t.Errorf("turn %d: %d written, %v", at, b.written, err)
		}
	}
}
