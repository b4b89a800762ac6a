package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func toolStep(seq uint64, text string) *Step {
	call := Call{ID: fmt.Sprint("c", seq), Name: "run", Arguments: StringValue(text)}
	res := Result{Call: call, Output: TextContent(text)}
	return &Step{
		ModelResponse:  &Message{Type: ModelResponse, Role: "assistant", Calls: []Call{call}, Cost: &TokenCost{Prompt: 10, Generated: seq}},
		Returns:        []*Message{NewResultMessage(res)},
		CommitSequence: seq,
	}
}

// Whatever copy-on-write edits were made, the encoder with its memory writes what a fresh
// one writes.
func TestEncoderMemoryNeverShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := New("s", testTime)
		kept := NewEncoder()
		snapshots := []*State{st.Clone()}
		for n := range rapid.IntRange(1, 30).Draw(t, "edits") {
			edit(t, st, snapshots, uint64(n+1))
			snapshots = append(snapshots, st.Clone())
			if rapid.IntRange(0, 3).Draw(t, "save") > 0 {
				sameBytes(t, kept, st)
			}
		}
		sameBytes(t, kept, st)
	})
}

func edit(t *rapid.T, st *State, snapshots []*State, seq uint64) {
	switch rapid.IntRange(0, 12).Draw(t, "edit") {
	case 0:
		st.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "user", genText().Draw(t, "text"))})
	case 1:
		st.ReplaceLastStep(toolStep(seq, "replaced"))
	case 2: // back to an older state
		*st = *rapid.SampledFrom(snapshots).Draw(t, "snapshot").Clone()
	case 3: // a turn is dropped
		if len(st.Turns) > 0 {
			i := rapid.IntRange(0, len(st.Turns)-1).Draw(t, "drop")
			st.Turns = slices.Delete(slices.Clone(st.Turns), i, i+1)
		}
	case 4: // a turn gets an unknown member before and after its steps
		if last := st.LastTurn(); last != nil {
			c := *last
			c.Unknown = ObjectFrom([]Member{{"a", UintValue(seq)}, {"z", UintValue(seq)}})
			st.Turns = append(slices.Clone(st.Turns[:len(st.Turns)-1]), &c)
		}
	case 5: // a step in the middle goes away
		if last := st.LastTurn(); last != nil && len(last.Steps) > 1 {
			c := *last
			c.Steps = slices.Delete(slices.Clone(last.Steps), 0, 1)
			st.Turns = append(slices.Clone(st.Turns[:len(st.Turns)-1]), &c)
		}
	case 6: // the same turn twice
		if last := st.LastTurn(); last != nil {
			st.AppendTurn(last)
		}
	case 7:
		st.Extras = st.Extras.With("n", UintValue(seq))
		st.Unknown = st.Unknown.With("zz", BoolValue(true))
	case 8: // prompt and tools
		_ = st.SystemPrompt.Add(Section{Name: fmt.Sprint(seq), Stability: Volatile, Text: "x"})
		st.Tools = append(slices.Clip(st.Tools), Tool{Name: genText().Draw(t, "tool")})
	default:
		st.AppendStep(toolStep(seq, genText().Draw(t, "text")))
	}
}

func sameBytes(t *rapid.T, kept *Encoder, st *State) {
	var want, got bytes.Buffer
	if err := Encode(&want, st); err != nil {
		t.Fatal(err)
	}
	if err := kept.Encode(&got, st); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Fatalf("-fresh +kept:\n%s", diff)
	}
	if len(kept.known) != len(st.Turns) || len(kept.old.turns) != 0 {
		t.Fatalf("the encoder remembers %d turns of %d", len(kept.known), len(st.Turns))
	}
	// the plain record writer is a second witness
	w := writer{}
	w.state(st)
	if string(w.buf)+"\n" != want.String() {
		t.Fatalf("record writer and encoder differ:\n%s", cmp.Diff(string(w.buf)+"\n", want.String()))
	}
}

// After an appended step the encoder does not touch the old ones: one that was made
// unwritable behind its back does not matter.
func TestAppendedStepIsAllThatIsEncoded(t *testing.T) {
	t.Parallel()
	st := New("s", testTime)
	st.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "user", "go")})
	st.AppendStep(toolStep(1, "one"))
	enc := NewEncoder()
	if err := enc.Encode(&bytes.Buffer{}, st); err != nil {
		t.Fatal(err)
	}
	st.Turns[0].UserInput.Role = "\xff"
	st.LastStep().ModelResponse.Role = "\xff"
	st.AppendStep(toolStep(2, "two"))
	var out bytes.Buffer
	if err := enc.Encode(&out, st); err != nil {
		t.Errorf("an old record was encoded again: %v", err)
	}
	if got := decoded(t, out.Bytes()); len(got.Turns[0].Steps) != 2 {
		t.Errorf("%d steps", len(got.Turns[0].Steps))
	}
}

func TestInvalidUTF8FailsTheSave(t *testing.T) {
	t.Parallel()
	const bad = "a\xffb"
	cases := []struct {
		path string
		edit func(*State)
	}{
		{"/meta/session_id", func(s *State) { s.Meta.SessionID = bad }},
		{"/system_prompt/sections/0/title", func(s *State) { s.SystemPrompt.Sections = []Section{{Title: bad}} }},
		{"/tools/0/description", func(s *State) { s.Tools = []Tool{{Description: bad}} }},
		{"/tools/1/remote_type", func(s *State) { word := bad; s.Tools = []Tool{{}, {RemoteType: &word}} }},
		{"/loop/error", func(s *State) { s.Loop.Error = bad }},
		{"/loop/pending_results/0/query/id", func(s *State) { s.Loop.Pending = []Result{{Call: Call{ID: bad}}} }},
		{"/turns/1/user_input/content/0/raw", func(s *State) {
			s.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "", bad)})
		}},
		{"/turns/0/agent_loop_step/2/invoke_returns/0/invoke_return/output/raw", func(s *State) { s.AppendStep(toolStep(3, "x")); s.LastStep().Returns[0].Result.Output.Raw = bad }},
		{"/turns/0/agent_loop_step/2/model_response/invokes/0/name", func(s *State) { s.AppendStep(toolStep(3, "x")); s.LastStep().ModelResponse.Calls[0].Name = bad }},
		{"/turns/1/agent_loop_step/0/retain_priority", func(s *State) {
			s.AppendTurn(&Turn{UserInput: &Message{}, Steps: []*Step{{Retain: bad}}})
		}},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			st := New("s", testTime)
			st.AppendStep(toolStep(1, "fine"))
			st.AppendStep(toolStep(2, "fine"))
			enc := NewEncoder()
			if err := enc.Encode(&bytes.Buffer{}, st); err != nil {
				t.Fatal(err)
			}
			good := st.Clone()
			c.edit(st)
			for name, e := range map[string]*Encoder{"fresh": NewEncoder(), "kept": enc} {
				var out bytes.Buffer
				err := e.Encode(&out, st)
				var bad *EncodeError
				if !errors.As(err, &bad) || !errors.Is(err, ErrInvalidUTF8) || bad.Path != c.path {
					t.Errorf("%s: error %v, want invalid UTF-8 at %s", name, err, c.path)
				}
				if out.Len() > 0 {
					t.Errorf("%s: %d bytes were written", name, out.Len())
				}
			}
			// the encoder goes on after a failure
			var out bytes.Buffer
			if err := enc.Encode(&out, good); err != nil || !bytes.Equal(out.Bytes(), encoded(t, good)) {
				t.Errorf("after the failure: %v", err)
			}
		})
	}
}

type failingWriter struct{}

var errFull = errors.New("no space")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorIsGivenBack(t *testing.T) {
	t.Parallel()
	if err := Encode(failingWriter{}, New("s", testTime)); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
