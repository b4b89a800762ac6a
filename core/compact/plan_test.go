package compact

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"simplex/state"
)

const marker = "11111111-2222-4333-8444-555555555555"

var place = Place{Dir: "/srv/s/memory", File: "/srv/s/memory/00000000000000000001-x/state.md"}

// said is a session whose user said something of that size.
func said(size int) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.SystemPrompt.Sections = []state.Section{{Name: "persona", Title: "Role", Stability: state.Immutable, Text: "Be brief."}}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", strings.Repeat("x", size))})
	return st
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for window, want := range map[uint64]int{
		128000: 65536, 21846: 65536, 21845: 65532, 4000: 12000, 4: 12, 2: 4, 1: 0, math.MaxUint64: 65536,
	} {
		if got := Budget(window); got != want {
			t.Errorf("window of %d tokens: %d, want %d", window, got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	st := said(100)
	st.Tools = []state.Tool{{Name: "read_text", Description: "Read."}}
	old := state.Section{Name: MemorySection, Title: "Memory", Stability: state.Volatile, Text: "old summary"}
	last := state.Section{Name: "signature.runtime", Stability: state.Volatile, Text: "Hello."}
	for _, s := range []state.Section{old, last} {
		if err := st.SystemPrompt.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewPlan(st, place, 128000, marker)
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := p.prompt("What was done.")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range prompt.Sections {
		names = append(names, s.Name)
	}
	if fmt.Sprint(names) != "[persona signature.runtime memory.runtime]" {
		t.Errorf("%v", names)
	}
	memory, _ := prompt.Section(MemorySection)
	if memory.Title != "Memory" || memory.Stability != state.Volatile {
		t.Errorf("%+v", memory)
	}
	head, frame, ok := strings.Cut(memory.Text, "\n\n")
	if want := "BEGIN HISTORICAL_MEMORY_" + marker + "\nWhat was done.\nEND HISTORICAL_MEMORY_" + marker; !ok || frame != want {
		t.Errorf("got %q", frame)
	}
	position := -1
	for _, want := range []string{"untrusted", place.Dir, place.File, "retention"} {
		next := strings.Index(head[position+1:], want)
		if next < 0 {
			t.Errorf("%q is not in its place of %q", want, head)
			continue
		}
		position += 1 + next
	}
	if got, _ := st.SystemPrompt.Section(MemorySection); got.Text != "old summary" {
		t.Error("the plan wrote into the session")
	}
	if p.Allowance != SummaryBudget || p.Budget != ContextBudget {
		t.Errorf("%+v", p)
	}
	instruction := p.Instruction("Summarise.\n")
	if !strings.HasPrefix(instruction, "Summarise.\n\n") {
		t.Errorf("%q", instruction)
	}
	for _, n := range []int{p.Allowance, p.Budget, p.Fixed} {
		if !strings.Contains(instruction, fmt.Sprintf("%d", n)) {
			t.Errorf("%d is not in %q", n, instruction)
		}
	}
	if strings.Contains(instruction, marker) {
		t.Error("the model is told the marker")
	}
}

// The allowance is what is left, and what is called fixed is measured: the context with a
// summary has exactly so many bytes more.
func TestPlanMeasures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := said(1)
		st.SystemPrompt.Sections[0].Text = strings.Repeat(rapid.SampledFrom([]string{"x", "€", "\xff"}).Draw(t, "filler"), rapid.IntRange(1, 60000).Draw(t, "prompt"))
		st.Tools = []state.Tool{{Name: "t", Description: strings.Repeat("\n", rapid.IntRange(0, 2000).Draw(t, "tool"))}}
		window := rapid.Uint64Range(1, 30000).Draw(t, "window")
		p, err := NewPlan(st, place, window, marker)
		if errors.Is(err, ErrFixed) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		summary := "s" + strings.Repeat("y", rapid.IntRange(0, p.Allowance-1).Draw(t, "summary"))
		prompt, err := p.prompt(summary)
		if err != nil {
			t.Fatal(err)
		}
		size, err := standingBytes(prompt, st.Tools)
		if err != nil || size != p.Fixed+len(summary) || size > p.Budget || p.Budget > Budget(window) {
			t.Fatalf("%d bytes with a summary of %d; %+v; %v", size, len(summary), p, err)
		}
	})
}

// A prompt that leaves no room is refused before anything else, and the cause is named.
func TestPlanWithoutRoom(t *testing.T) {
	t.Parallel()
	st := said(10)
	st.SystemPrompt.Sections[0].Text = strings.Repeat("x", ContextBudget)
	_, err := NewPlan(st, place, 128000, marker)
	if !errors.Is(err, ErrFixed) || !strings.Contains(err.Error(), "system prompt and the tools") {
		t.Errorf("%v", err)
	}
	st.SystemPrompt.HeadingLevel = 0
	if _, err := NewPlan(st, place, 128000, marker); !errors.Is(err, state.ErrHeadingLevel) {
		t.Errorf("%v", err)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	part := func(texts ...string) *state.Message {
		m := &state.Message{Type: state.ModelResponse}
		for _, x := range texts {
			m.Content = append(m.Content, state.TextContent(x))
		}
		return m
	}
	reference := part("a", "b")
	reference.Content = append(reference.Content, state.Content{Type: state.TypeExternalRef, Raw: "https://x/"})
	call := part("a")
	call.Calls = []state.Call{{ID: "c", Name: "n"}}
	for _, tt := range []struct {
		name string
		m    *state.Message
		want string
		err  error
	}{
		{"one part", part("  Done.\n"), "  Done.\n", nil},
		{"several parts", part("a", "", "b"), "a\n\nb", nil},
		{"only text counts", reference, "a\n\nb", nil},
		{"as long as allowed", part(strings.Repeat("x", 100)), strings.Repeat("x", 100), nil},
		{"one byte more", part(strings.Repeat("x", 101)), "", ErrLong},
		{"joined too long", part(strings.Repeat("x", 50), strings.Repeat("x", 49)), "", ErrLong},
		{"empty", part(), "", ErrBlank},
		{"empty part", part(""), "", ErrBlank},
		{"white space", part(" \n\t", "\u00a0\n"), "", ErrBlank},
		{"no message", nil, "", ErrBlank},
		{"call", call, "", ErrToolCall},
		{"no UTF-8", part("a\xff"), "", ErrNotUTF8},
	} {
		p := &Plan{Allowance: 100}
		if got, err := p.Summary(tt.m); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

func TestReplacement(t *testing.T) {
	t.Parallel()
	st := said(5000)
	st.Meta.Unknown = object("kept", "meta")
	st.Unknown = object("kept", "top")
	st.Tools = []state.Tool{{Name: "read_text"}}
	private := st.Clone()
	private.Tools = nil
	private.Extras = object("private", "extras")
	private.Loop = &state.LoopProgress{Status: state.StatusCompleted, Phase: state.PhaseReady, CompletedExchanges: 1, CommittedSequence: 9}
	p, err := NewPlan(st, place, 128000, marker)
	if err != nil {
		t.Fatal(err)
	}
	next, err := p.Replacement(st, private, "Done.", "2031-02-03T04:05:06Z")
	if err != nil {
		t.Fatal(err)
	}
	meta := st.Meta
	meta.UpdatedAt = "2031-02-03T04:05:06Z"
	if next.Meta != meta || next.Unknown != st.Unknown || len(next.Turns) != 0 || len(next.Tools) != 1 || next.Extras != private.Extras || !reflect.DeepEqual(next.Loop, private.Loop) || next.Loop == private.Loop {
		t.Errorf("%+v", next)
	}
	if err := state.Check(next); err != nil {
		t.Error(err)
	}
}

// Ten per cent, rounded up, must go.
func TestJudge(t *testing.T) {
	t.Parallel()
	p := &Plan{Budget: 2000}
	standing, err := ContextBytes(said(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		before, after int
		want          error
	}{
		{1000, 900, nil},
		{1001, 900, nil},
		{1001, 901, ErrLittle},
		{1000, 901, ErrLittle},
		{1009, 909, ErrLittle},
		{1000, 1500, ErrLittle},
		{3000, 2000, nil},
		{3000, 2001, ErrLarge},
	} {
		err := p.judge(said(tt.before-standing), said(tt.after-standing))
		if !errors.Is(err, tt.want) {
			t.Errorf("%d to %d: %v", tt.before, tt.after, err)
		}
	}
}

func TestContextBytes(t *testing.T) {
	t.Parallel()
	st := said(10)
	st.Tools = []state.Tool{{Name: "n", Description: "d"}}
	rendered, _ := st.SystemPrompt.Render()
	tools := `[{"argument_schema":{},"description":"d","name":"n"}]`
	turn := `{"agent_loop_step":[],"retain_priority":"normal","user_input":{"content":[{"modality":"text","raw":"xxxxxxxxxx","type":"text"}],"role":"user","type":"user_input"}}`
	if got, err := ContextBytes(st); err != nil || got != len(rendered)+len(tools)+len(turn) {
		t.Errorf("%d, %v", got, err)
	}
}

func FuzzSummary(f *testing.F) {
	f.Add("a", " ", 10)
	f.Fuzz(func(t *testing.T, one, two string, allowance int) {
		p := &Plan{Allowance: allowance}
		got, err := p.Summary(&state.Message{Content: []state.Content{state.TextContent(one), state.TextContent(two)}})
		if err == nil && (len(got) > allowance || strings.TrimSpace(got) == "") || err != nil && got != "" {
			t.Fatalf("%q of %d, %v", got, allowance, err)
		}
	})
}
