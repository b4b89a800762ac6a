package state

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testTime = time.Date(2031, 2, 3, 5, 5, 6, 999, time.FixedZone("", 3600))

func TestFreshState(t *testing.T) {
	t.Parallel()
	st := New("demo-1", testTime)
	if got, want := string(encoded(t, st)), string(readFile(t, "fresh.json")); got != want {
		t.Errorf("got %s", got)
	}
	if err := Check(st); err != nil {
		t.Error(err)
	}
}

// Edits of a state never show in a snapshot of it, nor the other way round.
func TestCloneIsASnapshot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := New("s", testTime)
		var taken []*State
		var texts []string
		for n := range rapid.IntRange(1, 20).Draw(t, "edits") {
			from := st
			if len(taken) > 0 && rapid.Bool().Draw(t, "of snapshot") {
				from = rapid.SampledFrom(taken).Draw(t, "snapshot").Clone()
			}
			edit(t, from, []*State{st}, uint64(n+1))
			_ = from.SystemPrompt.Add(Section{Name: genText().Draw(t, "section"), Stability: Volatile})
			from.Loop.CompletedExchanges++
			from.Tools = append(from.Tools, Tool{Name: "t"})
			taken = append(taken, from.Clone())
			var out bytes.Buffer
			if err := Encode(&out, from); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, out.String())
		}
		for i, s := range taken {
			var out bytes.Buffer
			if err := Encode(&out, s); err != nil || out.String() != texts[i] {
				t.Fatalf("snapshot %d changed: %v", i, err)
			}
		}
	})
}

func TestStepsAreCopiedOnWrite(t *testing.T) {
	t.Parallel()
	st := New("s", testTime)
	st.AppendStep(toolStep(1, "a")) // makes its turn
	if st.Turns[0].UserInput.Type != UserInput {
		t.Errorf("parent turn: %+v", st.Turns[0].UserInput)
	}
	old := st.Turns[0]
	st.AppendStep(toolStep(2, "b"))
	st.ReplaceLastStep(toolStep(3, "c"))
	if len(old.Steps) != 1 || old == st.Turns[0] {
		t.Error("the old turn was written to")
	}
	if st.LastStep().CommitSequence != 3 || len(st.Turns[0].Steps) != 2 {
		t.Errorf("steps: %v", st.Turns[0].Steps)
	}
	if New("s", testTime).LastStep() != nil || New("s", testTime).LastTurn() != nil {
		t.Error("a fresh state has no last turn")
	}
}

func TestCallLabel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, id, want string }{
		{"read_text", "c-1", "read_text__c-1"},
		{"a.b/c d", "t:0", "a_b_c_d__t_0"},
		{"", "", "__"},
		{"é", "x", "____x"},
		{strings.Repeat("n", 70), strings.Repeat("i", 65), strings.Repeat("n", 64) + "__" + strings.Repeat("i", 64)},
	} {
		if got := CallLabel(Call{Name: c.name, ID: c.id}); got != c.want {
			t.Errorf("label of %q, %q: %q, want %q", c.name, c.id, got, c.want)
		}
	}
}

func TestMessageText(t *testing.T) {
	t.Parallel()
	m := &Message{Content: []Content{TextContent("a"), {Type: TypeBinary, Raw: "no", Modality: ModalityImage}, TextContent("b")}}
	if got := m.Text(); got != "ab" {
		t.Errorf("got %q", got)
	}
	if got := (*Message)(nil).Text(); got != "" {
		t.Errorf("nil message: %q", got)
	}
	r := NewResultMessage(Result{Output: TextContent("out")})
	if r.Type != InvokeReturn || r.Role != "tool" || r.Text() != "out" || r.Result == nil {
		t.Errorf("projection: %+v", r)
	}
}

// Two snapshots that grow from one point do not write into each other.
func TestForksDoNotMeet(t *testing.T) {
	t.Parallel()
	base := New("s", testTime)
	for n := range 9 {
		base.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "user", "go")})
		base.Tools = append(base.Tools, Tool{Name: "base"})
		for range n + 1 {
			base.AppendStep(toolStep(1, "base"))
		}
		a, b := base.Clone(), base.Clone()
		a.AppendStep(toolStep(2, "a"))
		b.AppendStep(toolStep(3, "b"))
		if a.LastStep().CommitSequence != 2 || b.LastStep().CommitSequence != 3 || base.LastStep().CommitSequence != 1 {
			t.Fatalf("steps after %d: a has %d, b has %d", n+1, a.LastStep().CommitSequence, b.LastStep().CommitSequence)
		}
		a, b = base.Clone(), base.Clone()
		a.Turns = append(a.Turns, &Turn{Retain: RetainPinned})
		b.Turns = append(b.Turns, &Turn{Retain: RetainDiscardable})
		a.Tools = append(a.Tools, Tool{Name: "a"})
		b.Tools = append(b.Tools, Tool{Name: "b"})
		if a.LastTurn().Retain != RetainPinned || a.Tools[n+1].Name != "a" {
			t.Fatalf("after %d turns the forks share memory", n+1)
		}
	}
}
