package display_test

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

// shownPage is a history page as a Hub reads it.
type shownPage struct {
	Start    uint64      `json:"start"`
	Step     uint64      `json:"step"`
	Next     uint64      `json:"next"`
	NextStep uint64      `json:"next_step"`
	Total    uint64      `json:"total"`
	Turns    []shownTurn `json:"turns"`
}

type shownTurn struct {
	Index       uint64          `json:"index"`
	User        []wire.Part     `json:"user"`
	OmittedUser int             `json:"omitted_user_parts"`
	Internal    string          `json:"internal_input"`
	Steps       []shownStep     `json:"steps"`
	Omitted     int             `json:"omitted_steps"`
	Source      *wire.Execution `json:"source"`
}

type shownStep struct {
	Index     uint64 `json:"index"`
	ToolCalls int    `json:"tool_calls"`
	Content   []struct {
		Raw       string `json:"raw"`
		Truncated bool   `json:"truncated"`
		Bytes     int    `json:"bytes"`
	} `json:"content"`
	Omitted int `json:"omitted_parts"`
}

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// walk pages from a place to the end and lists the turns and steps in the order shown.
func walk(t fataler, p *display.Pager, st *state.State, req wire.HistoryRequest) (seen []string) {
	for {
		data, err := p.History(st, 1, strings.Repeat("\x01", wire.MaxID), req)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > wire.MaxPage || wire.EventSize(&wire.Event{Data: data})+2*wire.MaxID+1024 > wire.MaxHistory {
			t.Fatalf("%d bytes", len(data))
		}
		var page shownPage
		if err := json.Unmarshal(data, &page); err != nil {
			t.Fatal(err)
		}
		if page.Start != req.Start || page.Step != req.Step || page.Total != uint64(len(st.Turns)) || len(page.Turns) > req.Limit {
			t.Fatalf("%+v for %+v", page, req)
		}
		seen = append(seen, listed(t, st, &page)...)
		if page.Next == page.Total && page.NextStep == 0 {
			return seen
		}
		if page.Next < req.Start || page.Next == req.Start && page.NextStep <= req.Step {
			t.Fatalf("no progress at %d/%d", page.Next, page.NextStep)
		}
		req.Start, req.Step = page.Next, page.NextStep
	}
}

// listed checks a page against the conversation and names what it shows.
func listed(t fataler, st *state.State, page *shownPage) (seen []string) {
	for i, turn := range page.Turns {
		want := st.Turns[turn.Index]
		first := turn.Index != page.Start || page.Step == 0
		if first {
			seen = append(seen, fmt.Sprint("turn ", turn.Index))
		}
		if turn.Internal == "" && len(turn.User)+turn.OmittedUser != len(want.UserInput.Content) {
			t.Fatalf("turn %d shows %d user parts, omits %d", turn.Index, len(turn.User), turn.OmittedUser)
		}
		if len(turn.Steps)+turn.Omitted != len(want.Steps) {
			t.Fatalf("turn %d shows %d steps, omits %d", turn.Index, len(turn.Steps), turn.Omitted)
		}
		if i+1 < len(page.Turns) && turn.Omitted > 0 && first {
			t.Fatalf("turn %d is not whole before the next one", turn.Index)
		}
		for _, s := range turn.Steps {
			checkStep(t, want.Steps[s.Index], s)
			seen = append(seen, fmt.Sprint("step ", turn.Index, "/", s.Index))
		}
	}
	return seen
}

// checkStep compares what is shown of a step with the record.
func checkStep(t fataler, want *state.Step, s shownStep) {
	m := want.ModelResponse
	if len(s.Content)+s.Omitted != len(m.Content) || s.ToolCalls != len(m.Calls) || len(s.Content) > wire.AnswerParts {
		t.Fatalf("%d parts shown, %d omitted, %d calls", len(s.Content), s.Omitted, s.ToolCalls)
	}
	for i, p := range s.Content {
		raw := m.Content[i].Raw
		if !strings.HasPrefix(raw, p.Raw) || p.Truncated != (p.Raw != raw) || p.Truncated && p.Bytes != len(raw) {
			t.Fatalf("part %d: %d of %d bytes, %+v", i, len(p.Raw), len(raw), p.Truncated)
		}
	}
}

// expected names everything from a place on.
func expected(st *state.State, start, step int) (want []string) {
	for i := start; i < len(st.Turns); i++ {
		if i > start || step == 0 {
			want = append(want, fmt.Sprint("turn ", i))
		}
		for j := range st.Turns[i].Steps {
			if i > start || j >= step {
				want = append(want, fmt.Sprint("step ", i, "/", j))
			}
		}
	}
	return want
}

func drawText(t *rapid.T, most int) string {
	piece := rapid.SampledFrom([]string{"x", "\x01", "\"", "€", "\U0001F600", "\n"}).Draw(t, "filler")
	return strings.Repeat(piece, rapid.IntRange(0, most/len(piece)).Draw(t, "length"))
}

func drawContent(t *rapid.T, parts, most int) (out []state.Content) {
	for range rapid.IntRange(0, parts).Draw(t, "parts") {
		kind := rapid.SampledFrom([]state.ContentType{state.TypeText, state.TypeText, state.TypeExternalRef, state.TypeBinary}).Draw(t, "type")
		out = append(out, state.Content{Type: kind, Modality: state.ModalityImage, Raw: drawText(t, most)})
	}
	return out
}

func drawConversation(t *rapid.T) *state.State {
	st := &state.State{}
	sequence := uint64(0)
	for range rapid.IntRange(0, 12).Draw(t, "turns") {
		one := &state.Turn{UserInput: &state.Message{Content: drawContent(t, 5, 6000)}}
		if rapid.IntRange(0, 5).Draw(t, "internal") == 0 {
			one.UserInput.Extras = state.ObjectFrom([]state.Member{{Name: "simplex.internal_input", Value: state.StringValue("auto_compact_continue")}})
		}
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			sequence++
			m := &state.Message{Content: drawContent(t, 2, 40000), Calls: make([]state.Call, rapid.IntRange(0, 3).Draw(t, "calls"))}
			if rapid.Bool().Draw(t, "thinks") {
				m.Reasoning = &state.Content{Type: state.TypeText, Raw: drawText(t, 9000)}
			}
			one.Steps = append(one.Steps, &state.Step{ModelResponse: m, CommitSequence: sequence})
		}
		st.Turns = append(st.Turns, one)
	}
	return st
}

// From any place to the end, each turn and step comes exactly once, in order, in pages
// within the budgets.
func TestPagesFromAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := drawConversation(t)
		start, step := rapid.IntRange(0, len(st.Turns)).Draw(t, "start"), 0
		if start < len(st.Turns) && len(st.Turns[start].Steps) > 0 {
			step = rapid.IntRange(0, len(st.Turns[start].Steps)-1).Draw(t, "step")
		}
		req := wire.HistoryRequest{Start: uint64(start), Step: uint64(step), Limit: rapid.IntRange(1, wire.HistoryLimit).Draw(t, "limit")}
		got := walk(t, display.NewPager("w"), st, req)
		if want := expected(st, start, step); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// A turn longer than a page goes on over pages, its user input repeated in each.
func TestLongTurn(t *testing.T) {
	t.Parallel()
	long := turn("what the user said")
	for i := range 40 {
		long.Steps = append(long.Steps, step(uint64(i)+1, strings.Repeat("x", 60000)))
	}
	st := &state.State{Turns: []*state.Turn{turn("before"), long, turn("after")}}
	p := display.NewPager("w")
	if got, want := walk(t, p, st, wire.HistoryRequest{Limit: 10}), expected(st, 0, 0); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	data, err := p.History(st, 1, "q", wire.HistoryRequest{Start: 1, Step: 17, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	var page shownPage
	if err := json.Unmarshal(data, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Turns) != 1 || page.Turns[0].User[0].Raw != "what the user said" || page.Turns[0].Steps[0].Index != 17 || page.Next != 1 || page.NextStep != 17+uint64(len(page.Turns[0].Steps)) {
		t.Errorf("%+v", page)
	}
}

// An answer put together from its pages is the original, byte for byte, whatever its
// characters are; while it is being paged, its place and bytes are those of the source.
func TestAnswersComeBackWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			text.WriteString(drawText(t, 50000))
		}
		st := &state.State{Turns: []*state.Turn{turn("q", step(1, "other"), step(2, text.String()))}}
		p := display.NewPager("w")
		req := wire.AnswerRequest{Source: p.Source(0, 1, st.Turns[0].Steps[1])}
		var got strings.Builder
		for done := false; !done; {
			page, err := p.Answer(st, "q", req)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Raw) > wire.AnswerPage || page.Raw != strings.ToValidUTF8(page.Raw, "") || page.RequestID != "q" ||
				page.Source != req.Source || page.Offset != req.Offset || page.Bytes != uint64(text.Len()) || page.TotalParts != 1 {
				t.Fatalf("%d bytes at %d", len(page.Raw), page.Offset)
			}
			got.WriteString(page.Raw)
			done, req.Part, req.Offset = page.Done, page.NextPart, page.NextOffset
		}
		if got.String() != text.String() {
			t.Fatalf("%d bytes came back of %d", got.Len(), text.Len())
		}
	})
}

// A source whose answer was changed, compacted or made elsewhere is refused; one that only
// got its tool results since is the same answer.
func TestAnswerSources(t *testing.T) {
	t.Parallel()
	p := display.NewPager("w")
	one := step(1, "the answer")
	st := &state.State{}
	st.AppendTurn(turn("q", one))
	req := wire.AnswerRequest{Source: p.Source(0, 0, one)}
	answered := *one
	answered.Returns = []*state.Message{{}}
	for name, tt := range map[string]struct {
		st   *state.State
		want error
	}{
		"same":      {st, nil},
		"answered":  {&state.State{Turns: []*state.Turn{turn("q", &answered)}}, nil},
		"changed":   {&state.State{Turns: []*state.Turn{turn("q", step(1, "another answer"))}}, display.ErrSource},
		"other":     {&state.State{Turns: []*state.Turn{turn("q", step(2, "the answer"))}}, display.ErrSource},
		"compacted": {&state.State{}, display.ErrSource},
		"pruned":    {&state.State{Turns: []*state.Turn{turn("q")}}, display.ErrSource},
	} {
		if page, err := p.Answer(tt.st, "q", req); !errors.Is(err, tt.want) || err == nil && page.Raw != "the answer" {
			t.Errorf("%s: %q, %v", name, page.Raw, err)
		}
	}
	if _, err := display.NewPager("v").Answer(st, "q", req); !errors.Is(err, display.ErrSource) {
		t.Errorf("another worker: %v", err)
	}
	req.Part = 1
	if _, err := p.Answer(st, "q", req); !errors.Is(err, display.ErrNoPart) {
		t.Errorf("%v", err)
	}
}

// Remembered fingerprints are the computed ones, beyond the number that is remembered.
func TestFingerprintsAreRemembered(t *testing.T) {
	t.Parallel()
	var f display.Fingerprints
	var messages []*state.Message
	for i := range 600 {
		messages = append(messages, state.NewTextMessage(state.ModelResponse, "", fmt.Sprint(i)))
	}
	for range 2 {
		for _, m := range messages {
			if got := f.Of(m); got != display.Fingerprint(m.Content) {
				t.Fatalf("%s: %s", m.Text(), got)
			}
		}
	}
	var none *display.Fingerprints
	if none.Of(messages[0]) != f.Of(messages[0]) {
		t.Error("without memory it is another one")
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"meta":{},"system_prompt":{},"tools":[],"turns":[{"user_input":{"type":"user_input","content":[]},"agent_loop_step":[{"commit_sequence":1,"model_response":{"content":[{"raw":"x","type":"text"}]}}]}]}`), uint64(0), uint64(0), 10)
	f.Fuzz(func(t *testing.T, raw []byte, start, step uint64, limit int) {
		st, err := state.Decode(raw)
		if err != nil {
			return
		}
		req := wire.HistoryRequest{Start: start, Step: step, Limit: 1 + int(uint(limit)%wire.HistoryLimit)}
		p := display.NewPager("w")
		if _, err := p.History(st, 1, "q", req); err != nil {
			if !errors.Is(err, display.ErrNoTurn) {
				t.Fatal(err)
			}
			return
		}
		walk(t, p, st, req)
	})
}

// conversationOf has many turns of one kind.
func conversationOf(turns, size int) *state.State {
	st := &state.State{}
	for i := range turns {
		st.Turns = append(st.Turns, turn("question", step(uint64(2*i)+1, strings.Repeat("x", size)), step(uint64(2*i)+2, "€")))
	}
	return st
}

// The cost of a page follows the page: 100 and 10,000 turns cost the same.
func BenchmarkHistoryPage(b *testing.B) {
	for _, turns := range []int{100, 10000} {
		b.Run(fmt.Sprint(turns, " turns"), func(b *testing.B) {
			st, p := conversationOf(turns, 2000), display.NewPager("w")
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				if _, err := p.History(st, 1, "q", wire.HistoryRequest{Start: i * 7 % uint64(turns-10), Limit: 10}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Paging an answer costs its bytes once more, not once for each page.
func BenchmarkAnswer(b *testing.B) {
	for _, size := range []int{1 << 20, 5 << 20} {
		b.Run(fmt.Sprint(size, " bytes"), func(b *testing.B) {
			st, p := conversationOf(1, size), display.NewPager("w")
			b.SetBytes(int64(size))
			for b.Loop() {
				req := wire.AnswerRequest{Source: p.Source(0, 0, st.Turns[0].Steps[0])}
				for done := false; !done; {
					page, err := p.Answer(st, "q", req)
					if err != nil {
						b.Fatal(err)
					}
					done, req.Part, req.Offset = page.Done, page.NextPart, page.NextOffset
				}
			}
		})
	}
}
