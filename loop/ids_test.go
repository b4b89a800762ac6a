package loop_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"simplex/loop"
	"simplex/state"
)

// BR-053: ids that repeat, in one response or in the conversation, and empty ones.
func TestCallIDsAreMadeUnique(t *testing.T) {
	t.Parallel()
	r := newRig(
		says("", "r1:t:0", "r2:t:1"),
		says("", "r3:t:0", "w4:t:1"),
		says("", "r5:same", "w6:same", "r7:", "w8:"),
		says("done"),
		says("", "r9:t:0", "w10:", "r11:t:0~2"),
		says("done"),
	)
	wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
	wantStatus(t, r.run(t, said("again")), state.StatusCompleted) // a new run knows the old ids
	want := [][]string{
		{"t:0", "t:1"},
		{"t:0~2", "t:1~2"},
		{"same", "same~2", "call", "call~2"},
		nil,
		{"t:0~3", "call~3", "t:0~2~2"},
		nil,
	}
	for i, step := range slices.Concat(r.st.Turns[0].Steps, r.st.Turns[1].Steps) {
		var got []string
		for j, c := range step.ModelResponse.Calls {
			got = append(got, c.ID)
			if out := step.Returns[j].Result.Output.Raw; out != "done "+c.Name {
				t.Errorf("call %s (%s) has the result %q", c.ID, c.Name, out)
			}
		}
		if !slices.Equal(got, want[i]) {
			t.Errorf("step %d: ids %q, want %q", i, got, want[i])
		}
	}
}

func TestResponsesAreNotWrittenTo(t *testing.T) {
	t.Parallel()
	m := response("", "read:", "read:")
	r := newRig(func(context.Context) (*state.Message, error) { return m, nil }, says("done"))
	wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
	if m.Calls[0].ID != "" || m.Calls[1].ID != "" {
		t.Errorf("ids %q, %q", m.Calls[0].ID, m.Calls[1].ID)
	}
}

func TestBadResponses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*state.Message) *state.Message
		path   string
	}{
		{"none", func(*state.Message) *state.Message { return nil }, "/model_response"},
		{
			"wrong type", func(m *state.Message) *state.Message { m.Type = state.UserInput; return m },
			"/model_response/type",
		},
		{
			"a result", func(m *state.Message) *state.Message { m.Result = &state.Result{}; return m },
			"/model_response/invoke_return",
		},
		{
			"nameless call", func(m *state.Message) *state.Message { m.Calls[1].Name = ""; return m },
			"/model_response/invokes/1/name",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(func(context.Context) (*state.Message, error) {
				return tt.change(response("", "read:c1", "read:c2")), nil
			})
			out := r.run(t, said("go"))
			wantStatus(t, out, state.StatusFailed)
			var wrong *state.StructureError
			if !errors.As(out.Err, &wrong) || wrong.Path != tt.path {
				t.Errorf("error %v, want one at %s", out.Err, tt.path)
			}
			if out.Stage != loop.StageOther || len(r.st.Turns[0].Steps) != 0 || r.st.Loop.CommittedSequence != 0 {
				t.Errorf("stage %s, steps %d", out.Stage, len(r.st.Turns[0].Steps))
			}
		})
	}
}

func TestLimitAndThreshold(t *testing.T) {
	t.Parallel()
	work := says("", "read:c")
	tests := []struct {
		name           string
		max, threshold uint64
		answers        []answer
		status         state.LoopStatus
		reason         string
		exchanges      uint64
		tokens         uint64 // 0: unknown
	}{
		{"limit", 2, 0, []answer{work, work}, state.StatusExchangeLimit, "", 2, 0},
		{"an answer at the limit", 2, 0, []answer{work, says("done")}, state.StatusCompleted, "", 2, 0},
		{"limit with threshold", 2, 100, []answer{work, work}, state.StatusAutoCompactRequired, loop.ReasonExchangeLimit, 2, 0},
		{"threshold reached is not exceeded", 1, 100, []answer{costing(60, 40, work)}, state.StatusAutoCompactRequired, loop.ReasonExchangeLimit, 1, 100},
		{"threshold wins", 1, 100, []answer{costing(60, 41, work)}, state.StatusAutoCompactRequired, loop.ReasonTokenThreshold, 1, 101},
		{"threshold off", 5, 0, []answer{costing(1e9, 1, work), says("done")}, state.StatusCompleted, "", 2, 0},
		{"an answer over the threshold", 5, 100, []answer{costing(200, 1, says("done"))}, state.StatusCompleted, "", 1, 201},
		{"overflow is unknown", 5, 100, []answer{costing(1<<63, 1<<63, work), costing(3, 4, says("done"))}, state.StatusCompleted, "", 2, 7},
		{"only the last exchange counts", 5, 100, []answer{costing(60, 1, work), costing(60, 1, work), says("done")}, state.StatusCompleted, "", 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(tt.answers...)
			r.cfg.MaxExchanges, r.cfg.Threshold = tt.max, tt.threshold
			out := r.run(t, said("go"))
			wantStatus(t, out, tt.status)
			if out.Reason != tt.reason || out.Exchanges != tt.exchanges || r.st.Loop.Status != tt.status {
				t.Errorf("outcome %+v", out)
			}
			if (out.LastTokens == nil) != (tt.tokens == 0) || out.LastTokens != nil && *out.LastTokens != tt.tokens {
				t.Errorf("tokens %v, want %d", out.LastTokens, tt.tokens)
			}
		})
	}
}

func TestCommitSequenceDoesNotWrap(t *testing.T) {
	t.Parallel()
	r := newRig(says("hello"))
	r.st.Loop.CommittedSequence = 1<<64 - 1
	out := loop.Run(t.Context(), r.st, said("go"), r.cfg)
	wantStatus(t, out, state.StatusFailed)
	if errors.Unwrap(out.Err) != nil || len(r.st.Turns[0].Steps) != 0 {
		t.Errorf("error %v, %d steps", out.Err, len(r.st.Turns[0].Steps))
	}
}
