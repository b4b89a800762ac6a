package contextstat

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"simplex/hooks"
	"simplex/state"
)

var _ hooks.Handler = (*Hook)(nil)

func newHook(t testing.TB, window uint64) *Hook {
	t.Helper()
	h, err := New(window)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// session is a conversation that is driven as the loop drives it.
type session struct {
	st *state.State
	h  *Hook
}

func newSession(t testing.TB, window uint64) *session {
	t.Helper()
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "go")})
	return &session{st, newHook(t, window)}
}

func (s *session) beforeModel() error {
	c := &hooks.Candidate{SystemPrompt: s.st.SystemPrompt, Tools: s.st.Tools, Extras: s.st.Extras}
	err := s.h.Handle(context.Background(), &hooks.Event{Name: hooks.BeforeModel, State: s.st.Clone(), Candidate: c})
	s.st.Extras = c.Extras
	return err
}

func (s *session) finish(name hooks.Name) error {
	e := &hooks.Event{Name: name, State: s.st.Clone(), Edit: s.st.Clone()}
	err := s.h.Handle(context.Background(), e)
	if err == nil {
		*s.st = *e.Edit
	}
	return err
}

// commit adds a step as the loop does; cost nil = the response had no usage.
func (s *session) commit(cost *state.TokenCost) {
	s.st.Loop.CommittedSequence++
	s.st.Loop.CompletedExchanges++
	m := state.NewTextMessage(state.ModelResponse, "assistant", "x")
	m.Cost = cost
	s.st.AppendStep(&state.Step{ModelResponse: m, CommitSequence: s.st.Loop.CommittedSequence})
}

func (s *session) exchange(t testing.TB, cost *state.TokenCost) {
	t.Helper()
	if err := s.beforeModel(); err != nil {
		t.Fatal(err)
	}
	s.commit(cost)
	if err := s.finish(hooks.EditOnStepFinished); err != nil {
		t.Fatal(err)
	}
}

func (s *session) slot(t testing.TB) map[string]string {
	t.Helper()
	_, slot, err := slotOf(s.st.Extras)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, v := range slot.All() {
		out[name] = v.String()
	}
	return out
}

// want checks some members of the slot.
func (s *session) want(t testing.TB, pairs ...string) {
	t.Helper()
	got := s.slot(t)
	for i := 0; i < len(pairs); i += 2 {
		if got[pairs[i]] != pairs[i+1] {
			t.Errorf("%s is %q, want %s", pairs[i], got[pairs[i]], pairs[i+1])
		}
	}
}

func cost(prompt, generated, hit uint64) *state.TokenCost {
	return &state.TokenCost{Prompt: prompt, Generated: generated, CacheHit: hit}
}

// The example of worker-data.md §1.13, number by number.
func TestExampleOfTheContract(t *testing.T) {
	t.Parallel()
	s := newSession(t, 128000)
	s.st.SystemPrompt.Sections = []state.Section{{Name: "p", Text: "Be brief."}}
	s.exchange(t, cost(180, 18, 0))
	s.exchange(t, cost(220, 12, 100))
	if err := s.finish(hooks.EditOnRunFinished); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"accounted_commit_sequence": "2", "accounted_exchanges_in_run": "2", "average_cache_hit_probability": "0.25",
		"context_window_tokens": "128000", "cumulative_exchange_cache_hit_tokens": "100", "cumulative_exchange_generated_tokens": "30",
		"cumulative_exchange_prompt_tokens": "400", "cumulative_exchange_total_tokens": "430", "estimated_zero_request_tokens": "3",
		"last_exchange_cache_hit_tokens": "100", "last_exchange_generated_tokens": "12", "last_exchange_prompt_tokens": "220",
		"last_exchange_total_tokens": "232", "last_window_remaining_ratio": "0.9981875", "max_exchange_cache_hit_tokens": "100",
		"max_exchange_generated_tokens": "18", "max_exchange_prompt_tokens": "220", "max_exchange_total_tokens": "232",
		"sampled_exchange_count": "2",
	}
	if diff := cmp.Diff(want, s.slot(t)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCounterRules(t *testing.T) {
	t.Parallel()
	t.Run("before anything happened", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		if err := s.beforeModel(); err != nil {
			t.Fatal(err)
		}
		s.want(t, "accounted_commit_sequence", "0", "sampled_exchange_count", "0", "last_exchange_total_tokens", "null",
			"last_window_remaining_ratio", "null", "average_cache_hit_probability", "null", "estimated_zero_request_tokens", "0")
	})
	t.Run("a response without usage", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(10, 5, 0))
		s.exchange(t, nil)
		s.want(t, "sampled_exchange_count", "1", "accounted_commit_sequence", "2", "accounted_exchanges_in_run", "2",
			"last_exchange_prompt_tokens", "null", "last_window_remaining_ratio", "null", "cumulative_exchange_total_tokens", "15",
			"max_exchange_total_tokens", "15", "average_cache_hit_probability", "0.0")
		s.exchange(t, cost(1, 1, 1))
		s.want(t, "last_exchange_total_tokens", "2", "max_exchange_total_tokens", "15", "last_window_remaining_ratio", "0.98")
	})
	t.Run("integral and negative ratios are floats", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(0, 0, 0))
		s.want(t, "last_window_remaining_ratio", "1.0", "average_cache_hit_probability", "null")
		s.exchange(t, cost(150, 50, 150))
		s.want(t, "last_window_remaining_ratio", "-1.0", "average_cache_hit_probability", "1.0")
	})
	t.Run("nothing is counted twice", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(10, 5, 0))
		before := s.slot(t)
		for _, name := range []hooks.Name{hooks.EditOnStepFinished, hooks.EditOnRunFinished} {
			if err := s.finish(name); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(before, s.slot(t)); diff != "" {
			t.Errorf("-before +after:\n%s", diff)
		}
	})
	t.Run("the end of a run catches up", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(10, 5, 0))
		s.commit(cost(1, 2, 0))
		s.commit(cost(3, 4, 0))
		if err := s.finish(hooks.EditOnRunFinished); err != nil {
			t.Fatal(err)
		}
		s.want(t, "cumulative_exchange_total_tokens", "25", "accounted_commit_sequence", "3", "accounted_exchanges_in_run", "3")
	})
	t.Run("a new run counts its exchanges anew", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(10, 5, 0))
		s.st.Loop.CompletedExchanges = 0
		s.exchange(t, cost(10, 5, 0))
		s.want(t, "accounted_exchanges_in_run", "1", "sampled_exchange_count", "2")
	})
	t.Run("other writers' slots stay", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.st.Extras = object(t, `{"events":[1.0],"external_status":{"other":{"x":1}}}`)
		s.exchange(t, cost(10, 5, 0))
		events, _ := s.st.Extras.Get("events")
		status, _ := s.st.Extras.Get("external_status")
		all, _ := status.Object()
		other, _ := all.Get("other")
		if events.String() != "[1.0]" || other.String() != `{"x":1}` || all.Len() != 2 {
			t.Errorf("extras: %s", s.st.Extras)
		}
	})
	t.Run("earlier turns may go once they are counted", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.exchange(t, cost(10, 5, 0))
		s.exchange(t, cost(10, 5, 0))
		s.st.Turns = nil // a compaction
		s.st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "on")})
		s.exchange(t, cost(10, 5, 0))
		s.want(t, "accounted_commit_sequence", "3", "cumulative_exchange_total_tokens", "45")
	})
	t.Run("no slot yet: the retained history is walked", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.st.Loop.CommittedSequence = 4 // what came before was pruned
		s.commit(cost(10, 5, 0))
		s.st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "again")})
		s.commit(cost(10, 5, 10))
		s.st.Loop.CompletedExchanges = 0
		if err := s.beforeModel(); err != nil {
			t.Fatal(err)
		}
		s.want(t, "accounted_commit_sequence", "6", "sampled_exchange_count", "2", "accounted_exchanges_in_run", "0",
			"last_exchange_cache_hit_tokens", "10", "average_cache_hit_probability", "0.5")
	})
	t.Run("steps of older files have no sequence", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, 100)
		s.st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "", "old")})
		s.exchange(t, cost(10, 5, 0))
		s.want(t, "sampled_exchange_count", "1", "accounted_commit_sequence", "1")
	})
}

func object(t testing.TB, text string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// spoil changes one member of the slot.
func (s *session) spoil(t testing.TB, name string, v state.Value) {
	t.Helper()
	status, slot, err := slotOf(s.st.Extras)
	if err != nil {
		t.Fatal(err)
	}
	s.st.Extras = s.st.Extras.With(statusName, status.With(HookName, slot.With(name, v).Value).Value)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const huge = 1<<64 - 1
	cases := []struct {
		name string
		edit func(*testing.T, *session)
		want error
	}{
		{"hits above the prompt", func(_ *testing.T, s *session) { s.commit(cost(1, 1, 2)) }, ErrCacheExceedsPrompt},
		{"one exchange overflows", func(_ *testing.T, s *session) { s.commit(cost(huge, 1, 0)) }, ErrOverflow},
		{"the sum overflows", func(_ *testing.T, s *session) { s.commit(cost(huge-5, 0, 0)) }, ErrOverflow},
		{"cumulative hits above the prompt", func(t *testing.T, s *session) {
			s.spoil(t, "cumulative_exchange_cache_hit_tokens", state.UintValue(11))
		}, ErrCacheExceedsPrompt},
		{"sum and total differ", func(t *testing.T, s *session) {
			s.spoil(t, "cumulative_exchange_total_tokens", state.UintValue(16))
		}, ErrSumMismatch},
		{"checkpoint ahead", func(t *testing.T, s *session) { s.spoil(t, "accounted_commit_sequence", state.UintValue(2)) }, ErrCheckpoint},
		{"a gap", func(_ *testing.T, s *session) {
			s.st.Loop.CommittedSequence++
			s.commit(nil)
		}, ErrGap},
		{"the newest step is gone", func(_ *testing.T, s *session) {
			s.st.Loop.CommittedSequence++
		}, ErrGap},
		{"all new steps are gone", func(_ *testing.T, s *session) {
			s.st.Loop.CommittedSequence++
			s.st.Turns = nil
		}, ErrGap},
		{"no slot and a gap in the history", func(_ *testing.T, s *session) {
			s.st.Extras = state.Object{}
			s.st.Loop.CommittedSequence++
			s.commit(nil)
		}, ErrGap},
		{"no slot and history behind", func(_ *testing.T, s *session) {
			s.st.Extras = state.Object{}
			s.st.Loop.CommittedSequence++
		}, ErrGap},
		{"counter is a float", func(t *testing.T, s *session) {
			v, _ := state.FloatValue(1)
			s.spoil(t, "sampled_exchange_count", v)
		}, ErrSlot},
		{"counter is negative", func(t *testing.T, s *session) {
			v, _ := state.ValueOf(-1)
			s.spoil(t, "max_exchange_total_tokens", v)
		}, ErrSlot},
		{"counter is null", func(t *testing.T, s *session) { s.spoil(t, "accounted_commit_sequence", state.NullValue()) }, ErrSlot},
		{"counter is a string", func(t *testing.T, s *session) {
			s.spoil(t, "estimated_zero_request_tokens", state.StringValue("1"))
		}, ErrSlot},
		{"counter is too large", func(t *testing.T, s *session) {
			o := object(t, `{"n":18446744073709551616}`)
			v, _ := o.Get("n")
			s.spoil(t, "cumulative_exchange_prompt_tokens", v)
		}, ErrSlot},
		{"last exchange half null", func(t *testing.T, s *session) {
			s.spoil(t, "last_exchange_total_tokens", state.NullValue())
		}, ErrSlot},
		{"slot is an array", func(t *testing.T, s *session) {
			s.st.Extras = object(t, `{"external_status":{"context_statistic":[]}}`)
		}, ErrSlot},
		{"slot is empty", func(t *testing.T, s *session) {
			s.st.Extras = object(t, `{"external_status":{"context_statistic":{}}}`)
		}, ErrSlot},
		{"external_status is null", func(t *testing.T, s *session) { s.st.Extras = object(t, `{"external_status":null}`) }, ErrSlot},
	}
	for _, c := range cases {
		for _, name := range []hooks.Name{hooks.BeforeModel, hooks.EditOnStepFinished, hooks.EditOnRunFinished} {
			t.Run(fmt.Sprint(c.name, "/", name), func(t *testing.T) {
				t.Parallel()
				s := newSession(t, 100)
				s.exchange(t, cost(10, 5, 0))
				c.edit(t, s)
				before := s.st.Extras
				var err error
				if name == hooks.BeforeModel {
					err = s.beforeModel()
				} else {
					err = s.finish(name)
				}
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if s.st.Extras != before {
					t.Errorf("extras were changed: %s", s.st.Extras)
				}
			})
		}
	}
}

func TestZeroRequestEstimate(t *testing.T) {
	t.Parallel()
	prompt := state.SystemPrompt{HeadingLevel: 2, Sections: []state.Section{{Name: "p", Title: "T", Text: "12345"}}}
	const promptBytes = len("## T\n\n12345\n")
	tool := state.Tool{Name: "n", Description: "d"}
	const toolBytes = len(`[{"description":"d","name":"n","parameters":{}}]`)
	var e estimate
	for _, c := range []struct {
		name   string
		prompt state.SystemPrompt
		tools  []state.Tool
		bytes  int
	}{
		{"prompt", prompt, nil, promptBytes},
		{"and a tool", prompt, []state.Tool{tool}, promptBytes + toolBytes},
		{"the same again", prompt, []state.Tool{tool}, promptBytes + toolBytes},
		{"another schema", prompt, []state.Tool{{Name: "n", Description: "d", ArgumentSchema: object(t, `{"a":1}`)}}, promptBytes + toolBytes + len(`"a":1`)},
		{"another level", state.SystemPrompt{HeadingLevel: 6, Sections: prompt.Sections}, nil, promptBytes + 4},
		{"only tools", state.SystemPrompt{HeadingLevel: 2}, []state.Tool{tool}, toolBytes},
		{"nothing", state.SystemPrompt{HeadingLevel: 2}, nil, 0},
	} {
		got, err := e.of(c.prompt, c.tools)
		if want := uint64(c.bytes+3) / 4; err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", c.name, got, err, want)
		}
	}
	if _, err := e.of(state.SystemPrompt{}, nil); !errors.Is(err, state.ErrHeadingLevel) {
		t.Errorf("a prompt that does not render: %v", err)
	}
}

func TestOtherEventsAreIgnored(t *testing.T) {
	t.Parallel()
	h := newHook(t, 1)
	for _, name := range hooks.Names() {
		if err := h.Handle(context.Background(), &hooks.Event{Name: name, State: state.New("s", time.Unix(0, 0))}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.Name() != "context_statistic" {
		t.Error(h.Name())
	}
	if _, err := New(0); !errors.Is(err, ErrWindow) {
		t.Errorf("no window: %v", err)
	}
}

// The cost of an exchange does not grow with the history.
func BenchmarkExchange(b *testing.B) {
	for _, steps := range []int{10, 10000} {
		b.Run(fmt.Sprint(steps, " steps"), func(b *testing.B) {
			s := newSession(b, 128000)
			s.st.SystemPrompt.Sections = []state.Section{{Name: "p", Text: "Be brief."}}
			turn := *s.st.LastTurn()
			for n := range steps {
				m := &state.Message{Type: state.ModelResponse, Cost: cost(10, 1, 5)}
				turn.Steps = append(turn.Steps, &state.Step{ModelResponse: m, CommitSequence: uint64(n + 1)})
			}
			s.st.Turns = []*state.Turn{&turn}
			s.st.Loop.CommittedSequence, s.st.Loop.CompletedExchanges = uint64(steps), 1
			if err := s.beforeModel(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.beforeModel(); err != nil {
					b.Fatal(err)
				}
				if err := s.finish(hooks.EditOnStepFinished); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
