package loop_test

import (
	"context"
	"fmt"
	"testing"

	"simplex/hooks"
	"simplex/loop"
	"simplex/state"
)

// longHistory is a conversation of n turns.
func longHistory(n int) *state.State {
	st := newRig().st
	for i := range n {
		st.Loop.CommittedSequence++
		st.Turns = append(st.Turns, &state.Turn{
			UserInput: said(fmt.Sprint("question ", i)),
			Retain:    state.RetainNormal,
			Steps:     []*state.Step{{ModelResponse: response("answer"), Retain: state.RetainNormal, CommitSequence: st.Loop.CommittedSequence}},
		})
	}
	return st
}

// exchanges runs a conversation of n turns for a number of exchanges, with one hook.
func exchanges(st *state.State, count int) loop.Outcome {
	r := newRig()
	for range count {
		r.model.answers = append(r.model.answers, says("", "read:c"))
	}
	r.cfg.MaxExchanges = uint64(count)
	r.cfg.Hooks = hooks.NewRegistry(hook(func(*hooks.Event) error { return nil }))
	return loop.Run(context.Background(), st, nil, r.cfg)
}

// The number of allocations of an exchange is the same for 10 and for 10,000 turns.
func TestCostDoesNotFollowTheHistory(t *testing.T) {
	perExchange := func(turns int) float64 {
		st := longHistory(turns)
		count := func(exch int) float64 {
			return testing.AllocsPerRun(3, func() {
				if out := exchanges(st.Clone(), exch); out.Status != state.StatusExchangeLimit {
					t.Error(out.Status, out.Err)
				}
			})
		}
		return (count(60) - count(20)) / 40
	}
	short, long := perExchange(10), perExchange(10_000)
	if long > short*1.1+2 {
		t.Errorf("%.1f allocations per exchange after 10 turns, %.1f after 10000", short, long)
	}
}

func BenchmarkExchange(b *testing.B) {
	for _, turns := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			st := longHistory(turns)
			b.ReportAllocs()
			for n := b.N; n > 0; n -= 100 {
				exchanges(st.Clone(), min(n, 100))
			}
		})
	}
}
