package display_test

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"

	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

func step(sequence uint64, text string) *state.Step {
	return &state.Step{CommitSequence: sequence, ModelResponse: &state.Message{
		Type: state.ModelResponse, Content: []state.Content{{Type: "text", Modality: "text", Raw: text}},
	}}
}

func turn(text string, steps ...*state.Step) *state.Turn {
	return &state.Turn{Steps: steps, UserInput: &state.Message{Content: []state.Content{{Type: "text", Modality: "text", Raw: text}}}}
}

func TestHistoryPage(t *testing.T) {
	t.Parallel()
	internal := turn("go on", step(0, "b"))
	internal.UserInput.Extras = object(t, `{"simplex.internal_input":"auto_compact_continue","simplex.source":{"worker_id":"w","request_id":"q","run_id":"r"}}`)
	internal.Steps[0].Extras = object(t, `{"simplex.execution":{"worker_id":"w","request_id":"q","run_id":"r"}}`)
	turns := []*state.Turn{turn("hi", step(1, "a")), internal}
	data, err := display.History(turns, display.HistoryQuery{
		HistoryRequest: wire.HistoryRequest{Limit: 10}, RequestID: "h", WorkerID: "w", Revision: 3,
	})
	fingerprint := display.Fingerprint(turns[0].Steps[0].ModelResponse.Content)
	run := `{"worker_id":"w","request_id":"q","run_id":"r"}`
	want := `{"request_id":"h","revision":3,"start":0,"step":0,"next":2,"next_step":0,"total":2,"turns":[` +
		`{"index":0,"user":[{"type":"text","raw":"hi","modality":"text"}],"omitted_user_parts":0,"steps":[{"index":0,"content":[{"type":"text","raw":"a","modality":"text"}],"tool_calls":0,"commit_sequence":"1","answer_source":{"worker_id":"w","turn":0,"step":0,"commit_sequence":"1","fingerprint":"` + fingerprint + `"},"omitted_parts":0}],"omitted_steps":0},` +
		`{"index":1,"user":[],"omitted_user_parts":0,"internal_input":"auto_compact_continue","source":` + run + `,"steps":[{"index":0,"content":[{"type":"text","raw":"b","modality":"text"}],"tool_calls":0,"commit_sequence":"0","execution":` + run + `,"omitted_parts":0}],"omitted_steps":0}]}`
	if err != nil || string(data) != want {
		t.Errorf("%v\n got %s\nwant %s", err, data, want)
	}
}

// Paging shows every step once, in order, in pages below the limit, however large the
// records are.
func TestHistoryPaging(t *testing.T) {
	t.Parallel()
	var turns []*state.Turn
	var want []string
	for i := range 25 {
		one := turn(strings.Repeat("\x01", 5000*(i%3)))
		for j := range (i * 7) % 11 {
			one.Steps = append(one.Steps, step(1, strings.Repeat("\"", 50000*(j%4))))
			want = append(want, fmt.Sprint(i, "/", j))
		}
		turns = append(turns, one)
	}
	var got []string
	q := display.HistoryQuery{HistoryRequest: wire.HistoryRequest{Limit: 10}, WorkerID: "w"}
	for {
		data, err := display.History(turns, q)
		if err != nil || len(data) > wire.MaxPage {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		var page struct {
			Next     uint64 `json:"next"`
			NextStep uint64 `json:"next_step"`
			Total    uint64 `json:"total"`
			Turns    []struct {
				Index   uint64 `json:"index"`
				Omitted uint64 `json:"omitted_steps"`
				Steps   []struct {
					Index uint64 `json:"index"`
				} `json:"steps"`
			} `json:"turns"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			t.Fatal(err)
		}
		for _, turn := range page.Turns {
			for _, step := range turn.Steps {
				got = append(got, fmt.Sprint(turn.Index, "/", step.Index))
			}
			if int(turn.Omitted)+len(turn.Steps) != len(turns[turn.Index].Steps) {
				t.Errorf("turn %d omits %d and shows %d", turn.Index, turn.Omitted, len(turn.Steps))
			}
		}
		if page.Next == page.Total && page.NextStep == 0 {
			break
		}
		if page.Next == q.Start && page.NextStep <= q.Step {
			t.Fatalf("no progress at %d/%d", page.Next, page.NextStep)
		}
		q.Start, q.Step = page.Next, page.NextStep
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, bad := range []wire.HistoryRequest{{Start: 26, Limit: 1}, {Start: 25, Step: 1, Limit: 1}, {Start: 0, Step: 1, Limit: 1}, {Start: 1, Step: 7, Limit: 1}} {
		q.HistoryRequest = bad
		if _, err := display.History(turns, q); !errors.Is(err, display.ErrNoTurn) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A source names one answer: any other worker, place, commit or text is refused.
func TestFindAnswer(t *testing.T) {
	t.Parallel()
	turns := []*state.Turn{turn("hi", step(1, "a"), step(2, "b"))}
	source := display.Source("w", 0, 1, turns[0].Steps[1])
	if content, err := display.FindAnswer(turns, "w", source); err != nil || content[0].Raw != "b" {
		t.Errorf("%v %v", content, err)
	}
	for name, change := range map[string]func(*wire.AnswerSource){
		"worker":      func(s *wire.AnswerSource) { s.WorkerID = "v" },
		"turn":        func(s *wire.AnswerSource) { s.Turn = 1 },
		"step":        func(s *wire.AnswerSource) { s.Step = 0 },
		"no step":     func(s *wire.AnswerSource) { s.Step = 2 },
		"commit":      func(s *wire.AnswerSource) { s.CommitSequence = 3 },
		"fingerprint": func(s *wire.AnswerSource) { s.Fingerprint = strings.Repeat("0", 64) },
	} {
		other := source
		change(&other)
		if _, err := display.FindAnswer(turns, "w", other); !errors.Is(err, display.ErrSource) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
