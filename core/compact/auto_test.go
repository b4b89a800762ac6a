package compact_test

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"

	"simplex/core/compact"
	"simplex/loop"
	"simplex/state"
	"simplex/wire"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	tokens := uint64(91000)
	asks := func(exchanges uint64) loop.Outcome {
		return loop.Outcome{Status: state.StatusAutoCompactRequired, Reason: loop.ReasonTokenThreshold, Exchanges: exchanges, LastTokens: &tokens}
	}
	const ok, no = true, false
	for _, tt := range []struct {
		name     string
		limit    uint64
		segments []uint64 // exchanges of each
		succeeds []bool   // of the compaction after each
		want     error    // at the last one
	}{
		{"the first may be short", 5, []uint64{1}, nil, nil},
		{"two exchanges between are enough", 5, []uint64{1, 2, 2}, []bool{ok, ok}, nil},
		{"one is not", 5, []uint64{3, 1}, []bool{ok}, compact.ErrTooFrequent},
		{"ever after", 5, []uint64{3, 4, 1}, []bool{ok, ok}, compact.ErrTooFrequent},
		{"a failed one does not count as success", 5, []uint64{3, 1}, []bool{no}, nil},
		{"limit", 2, []uint64{3, 3, 3}, []bool{ok, ok}, compact.ErrLimit},
		{"attempts count", 2, []uint64{3, 3, 3}, []bool{no, no}, compact.ErrLimit},
		{"too frequent comes first", 1, []uint64{3, 1}, []bool{ok}, compact.ErrTooFrequent},
		{"none allowed", 0, []uint64{3}, nil, compact.ErrLimit},
	} {
		a := compact.NewAuto(compact.AutoConfig{Threshold: 90000, MaxExchanges: 512, Limit: tt.limit})
		succeeded := uint64(0)
		for i, exchanges := range tt.segments {
			trigger, err := a.Admit(asks(exchanges))
			last := i+1 == len(tt.segments)
			if !last && err != nil || last && !errors.Is(err, tt.want) {
				t.Errorf("%s, %d: %v", tt.name, i, err)
			}
			if err != nil {
				if !strings.HasPrefix(err.Error(), tt.want.Error()+":") {
					t.Errorf("%s: %v", tt.name, err)
				}
				break
			}
			want := compact.Trigger{
				Reason: loop.ReasonTokenThreshold, Threshold: 90000, MaxExchanges: 512, SegmentExchanges: exchanges,
				LastExchangeTokens: &tokens, Cycle: uint64(i) + 1, Succeeded: succeeded, Limit: tt.limit,
			}
			if trigger != want {
				t.Errorf("%s, %d: %+v", tt.name, i, trigger)
			}
			if !last && tt.succeeds[i] {
				a.Succeed()
				succeeded++
			}
			if got := a.Counters(); got != (wire.AutoCompact{Attempts: uint64(i) + 1, Succeeded: succeeded, Limit: tt.limit, Threshold: 90000}) {
				t.Errorf("%s, %d: %+v", tt.name, i, got)
			}
		}
	}
}

func TestPseudoCall(t *testing.T) {
	t.Parallel()
	call, err := compact.PseudoCall("7b", compact.Trigger{Reason: loop.ReasonExchangeLimit, Threshold: 9, MaxExchanges: 8, SegmentExchanges: 7, Cycle: 1, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{call, `{"arguments":{"cycle":1,"last_exchange_tokens":null,"limit":5,"max_exchanges":8,"reason":"exchange_limit","segment_exchanges":7,"succeeded":0,"threshold":9},` +
			`"extras":{"operation":"auto_compact","origin":"worker"},"id":"host-auto-compact-7b","name":"auto_compact","security":"trusted","type":"serial_write"}`},
		{compact.PseudoResult(call, compact.Outcome{Status: state.StatusCompleted}).Extras, `{"status":"completed"}`},
		{compact.PseudoResult(call, compact.Outcome{Status: state.StatusCancelled}).Extras, `{"status":"cancelled"}`},
		{
			compact.PseudoResult(call, compact.Outcome{Status: state.StatusFailed, Err: compact.ErrBlank}).Extras,
			`{"error":{"message":"the summary is blank","stage":"auto_compact"},"status":"failed"}`,
		},
	} {
		if got, err := json.Marshal(tt.value); err != nil || string(got) != tt.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, tt.want)
		}
	}
	f := compact.FinishedAutomatic(compact.Outcome{Summary: "s"}, 3, compact.Cycle{Trigger: compact.Trigger{Cycle: 2}, Call: call})
	if f.Origin != "automatic" || f.Cycle != 2 || f.CallID != call.ID {
		t.Errorf("%+v", f)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	memory := func(text string) *state.State {
		st := state.New("s", noon)
		st.SystemPrompt.Sections = []state.Section{{Name: compact.MemorySection, Stability: state.Volatile, Text: text}}
		return st
	}
	turn, blocked, noLoop := memory("x"), memory("x"), memory("x")
	turn.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "x")})
	blocked.Loop.Phase = state.PhaseBlocked
	noLoop.Loop = nil
	for name, tt := range map[string]struct {
		st   *state.State
		want bool
	}{
		"memory": {memory("x"), true}, "no loop": {noLoop, true}, "blank": {memory(" \n"), false},
		"none": {state.New("s", noon), false}, "turn": {turn, false}, "blocked": {blocked, false},
	} {
		if got := compact.CanResume(tt.st); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	m := compact.ContinueMessage("Go on.\n", wire.Execution{WorkerID: "w", RequestID: "q", RunID: "r"})
	want := `{"simplex.internal_input":"auto_compact_continue","simplex.source":{"request_id":"q","run_id":"r","worker_id":"w"}}`
	if m.Extras.String() != want || m.Text() != "Go on.\n" || m.Role != "user" || !compact.Internal(m) || compact.Internal(nil) {
		t.Errorf("%+v", m)
	}
}

// host drives a bench as core would.
type host struct {
	*bench
	threshold, maximum uint64
	log                []string
	refuse             error  // of the announcements
	during             func() // a compaction
}

func (h *host) Segment(ctx context.Context, input *state.Message) loop.Outcome {
	h.log = append(h.log, "segment")
	return loop.Run(ctx, h.st, input, loop.Config{Model: h.model, Tools: echo{}, Hooks: h.hooks, MaxExchanges: h.maximum, Threshold: h.threshold})
}

func (h *host) Called(state.Call) error {
	h.log = append(h.log, "call")
	return h.refuse
}

func (h *host) Compact(ctx context.Context, c compact.Cycle) compact.Outcome {
	if h.during != nil {
		h.during()
	}
	h.log = append(h.log, fmt.Sprint("compact ", c.Trigger.Cycle))
	return h.runner().Run(ctx, h.st, h.job())
}

func (h *host) Returned(r state.Result) error {
	status, _ := r.Extras.Get("status")
	h.log = append(h.log, "result "+status.String())
	return nil
}

func (h *host) Continuation() (*state.Message, error) {
	return compact.ContinueMessage("Go on.", wire.Execution{}), nil
}

func (h *host) NewID() string { return h.newID() }

func (h *host) drive(ctx context.Context, limit uint64) (compact.Settlement, *compact.Auto) {
	a := compact.NewAuto(compact.AutoConfig{Threshold: h.threshold, MaxExchanges: h.maximum, Limit: limit})
	return a.Drive(ctx, h, state.NewTextMessage(state.UserInput, "user", strings.Repeat("do it ", 1000))), a
}

func TestDrive(t *testing.T) {
	t.Parallel()
	works := says("", "look") // 110 tokens
	for _, tt := range []struct {
		name      string
		threshold uint64
		limit     uint64
		answers   []func(context.Context) (*state.Message, error)
		want      state.LoopStatus
		err       error
		log       string
		task      uint64
		compact   uint64
	}{
		{
			"no threshold", 0, 5,
			[]func(context.Context) (*state.Message, error){works, works, works, works},
			state.StatusExchangeLimit, nil, "[segment]", 4, 0,
		},
		{
			"never needed", 110, 5,
			[]func(context.Context) (*state.Message, error){works, says("done")},
			state.StatusCompleted, nil, "[segment]", 2, 0,
		},
		{
			"tokens", 109, 5,
			[]func(context.Context) (*state.Message, error){works, says("summary"), says("done")},
			state.StatusCompleted, nil, `[segment call compact 1 result "completed" segment]`, 2, 1,
		},
		{
			"a final answer wins", 1, 5,
			[]func(context.Context) (*state.Message, error){says("done")},
			state.StatusCompleted, nil, "[segment]", 1, 0,
		},
		{
			"exchanges", 1000, 5,
			[]func(context.Context) (*state.Message, error){works, works, works, works, says("summary"), works, says("done")},
			state.StatusCompleted, nil, `[segment call compact 1 result "completed" segment]`, 6, 1,
		},
		{
			"too frequent", 109, 5,
			[]func(context.Context) (*state.Message, error){works, says("summary"), works},
			state.StatusFailed, compact.ErrTooFrequent, `[segment call compact 1 result "completed" segment]`, 2, 1,
		},
		{
			"failed summary", 109, 5,
			[]func(context.Context) (*state.Message, error){works, says("")},
			state.StatusFailed, compact.ErrBlank, `[segment call compact 1 result "failed"]`, 1, 1,
		},
		{
			"limit", 1000, 0,
			[]func(context.Context) (*state.Message, error){works, works, works, works},
			state.StatusFailed, compact.ErrLimit, "[segment]", 4, 0,
		},
	} {
		h := &host{bench: newBench(t), threshold: tt.threshold, maximum: 4}
		h.model.add(tt.answers...)
		s, _ := h.drive(context.Background(), tt.limit)
		if s.Status != tt.want || !errors.Is(s.Err, tt.err) || (s.Err == nil) != (tt.err == nil) || s.TaskExchanges != tt.task || s.CompactExchanges != tt.compact {
			t.Errorf("%s: %+v", tt.name, s)
		}
		if got := fmt.Sprint(h.log); got != tt.log {
			t.Errorf("%s: %s", tt.name, got)
		}
		if (s.Status == state.StatusFailed) != (s.Stage != "") || s.Status == state.StatusFailed && s.Operation != compact.OperationAutoCompact {
			t.Errorf("%s: %q, %q", tt.name, s.Stage, s.Operation)
		}
		if err := state.Check(h.st); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A model that always wants more ends after the configured number of compactions.
func TestDriveIsBounded(t *testing.T) {
	t.Parallel()
	h := &host{bench: newBench(t), threshold: 1 << 40, maximum: 2}
	endless := 0
	var more func(context.Context) (*state.Message, error)
	more = func(ctx context.Context) (*state.Message, error) {
		endless++
		h.model.add(more)
		if len(h.model.asked[len(h.model.asked)-1].Tools) == 0 {
			return says("summary")(ctx)
		}
		m, err := says(strings.Repeat("thinking ", 200), "look")(ctx)
		return m, err
	}
	h.model.add(more)
	s, a := h.drive(context.Background(), 3)
	if !errors.Is(s.Err, compact.ErrLimit) || endless != 4*2+3 || a.Counters().Succeeded != 3 {
		t.Errorf("%d calls, %+v, %+v", endless, s, a.Counters())
	}
}

// A window smaller than the standing prompt cannot be helped by compaction: the request
// ends at the first attempt, with the cause, without a summary call (BR-055).
func TestWindowSmallerThanThePrompt(t *testing.T) {
	t.Parallel()
	h := &host{bench: newBench(t), threshold: 100, maximum: 4}
	h.window = 4000
	h.st.SystemPrompt.Sections[0].Text = strings.Repeat("word", 5000)
	h.model.add(says("", "look"))
	s, a := h.drive(context.Background(), 5)
	if !errors.Is(s.Err, compact.ErrFixed) || len(h.model.asked) != 1 || a.Counters().Attempts != 1 || len(h.st.Turns) != 1 {
		t.Errorf("%+v, asked %d times", s, len(h.model.asked))
	}
}

func TestDriveCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	h := &host{bench: newBench(t), threshold: 100, maximum: 4, during: cancel}
	h.model.add(says("", "look"))
	s, _ := h.drive(ctx, 5)
	if s.Status != state.StatusCancelled || s.Err != nil || fmt.Sprint(h.log) != `[segment call compact 1 result "cancelled"]` || len(h.st.Turns) != 1 {
		t.Errorf("%+v, %v", s, h.log)
	}
	refused := &host{bench: newBench(t), threshold: 100, maximum: 4, refuse: errors.New("outbox full")}
	refused.model.add(says("", "look"))
	if s, _ := refused.drive(context.Background(), 5); s.Status != state.StatusFailed || !errors.Is(s.Err, refused.refuse) || len(refused.st.Turns) != 1 {
		t.Errorf("%+v", s)
	}
}
