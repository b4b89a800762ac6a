package llmtest

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/llm/replay"
	"simplex/state"
)

// CheckReplay is the property of both adapters: whatever the history, loaded from a
// file or made, its edits and the order of requests, the body is what a strict server
// takes and what a fresh builder would send.
func CheckReplay(t *testing.T, form func() replay.Form, strict func(body []byte) error) {
	rapid.Check(t, func(t *rapid.T) {
		b, st := replay.New(form()), History(t)
		for range rapid.IntRange(1, 12).Draw(t, "edits") {
			edit(t, st)
			got := body(t, b, st)
			if diff := cmp.Diff(string(body(t, replay.New(form()), st)), string(got)); diff != "" {
				t.Fatal(diff)
			}
			if err := strict(got); err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
		}
	})
}

func body(t rapid.TB, b *replay.Builder, st *state.State) []byte {
	settings := state.EmptyObject().With("model", state.StringValue("m"))
	out, err := b.Build(settings, st)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(out, nil)
}

func edit(t *rapid.T, st *state.State) {
	switch rapid.IntRange(0, 6).Draw(t, "edit") {
	case 0:
		st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "more")})
	case 1:
		st.Turns = st.Turns[:max(1, len(st.Turns)-1)]
	case 2: // what a compaction leaves
		st.Turns = []*state.Turn{{UserInput: state.NewTextMessage(state.UserInput, "", "go on")}}
	case 3:
		name := fmt.Sprint("more ", len(st.SystemPrompt.Sections))
		if err := st.SystemPrompt.Add(state.Section{Name: name, Stability: state.Growing, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	case 4:
		st.AppendStep(Step(t))
	case 5: // a step that stands in two places
		if last := st.LastStep(); last != nil {
			st.AppendStep(last)
		}
	default:
		st.AppendStep(memoryStep(t))
	}
}

// memoryStep draws a step that no file holds: with bytes that are no UTF-8.
func memoryStep(t *rapid.T) *state.Step {
	m := state.NewTextMessage(state.ModelResponse, "", rapid.SampledFrom([]string{"", "x\xffy"}).Draw(t, "text"))
	step := &state.Step{ModelResponse: m}
	for range rapid.IntRange(0, 2).Draw(t, "calls") {
		c := state.Call{ID: rapid.SampledFrom([]string{"", "t:0", "\xff"}).Draw(t, "id"), Name: "f\xff", Arguments: state.StringValue("{\xff")}
		m.Calls = append(m.Calls, c)
		step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: c, Output: state.TextContent("\xff")}))
	}
	return step
}

// Grow gives a conversation of n steps with one call each.
func Grow(n, resultBytes int) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "go")})
	for i := range n {
		AddStep(st, i, resultBytes)
	}
	return st
}

// AddStep appends step i of Grow.
func AddStep(st *state.State, i, resultBytes int) {
	c := state.Call{ID: fmt.Sprintf("c%d", i), Name: "run_command", Arguments: state.EmptyObject().Value}
	output := state.TextContent(string(bytes.Repeat([]byte{'x'}, resultBytes)))
	st.AppendStep(&state.Step{
		ModelResponse: &state.Message{Type: state.ModelResponse, Calls: []state.Call{c}},
		Returns:       []*state.Message{state.NewResultMessage(state.Result{Call: c, Output: output})},
	})
}

// CheckPrefix builds a request after each of fifty turns: each body must go on from the
// last one byte for byte, and one that is built again must cost next to nothing. The
// test that calls it must not be parallel, as allocations are counted.
func CheckPrefix(t *testing.T, form replay.Form) {
	b, st := replay.New(form), Grow(0, 0)
	var last []byte
	for i := range 50 {
		st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", fmt.Sprint("turn ", i))})
		AddStep(st, i, 100)
		now := body(t, b, st)
		if !bytes.HasPrefix(now, bytes.TrimSuffix(last, []byte("]}"))) {
			t.Fatalf("turn %d: the body does not go on from the last one", i)
		}
		last = now
	}
	settings := state.EmptyObject().With("model", state.StringValue("m"))
	if _, err := b.Build(settings, st); err != nil {
		t.Fatal(err)
	}
	if again := testing.AllocsPerRun(20, func() { _, _ = b.Build(settings, st) }); again > 10 {
		t.Errorf("building the same body again takes %v allocations", again)
	}
}

// BenchBuild measures what one more turn costs in the building of a request, after 10
// and after 1000 turns of a kilobyte.
func BenchBuild(b *testing.B, form func() replay.Form) {
	settings := state.EmptyObject().With("model", state.StringValue("m"))
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("after %d turns", n), func(b *testing.B) {
			builder, st := replay.New(form()), state.New("s", time.Unix(0, 0))
			add := func(i int) {
				st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "go")})
				AddStep(st, i, 1000)
			}
			for i := range n {
				add(i)
			}
			build := func() {
				if _, err := builder.Build(settings, st); err != nil {
					b.Fatal(err)
				}
			}
			build()
			before := st.Turns
			add(n)
			after := st.Turns
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() { // forget the newest turn, then build with it
				st.Turns = before
				build()
				st.Turns = after
				build()
			}
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpu is the processor time that this process has used: unlike the clock, it tells the
// same on a busy machine.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
