package contextstat

import (
	"errors"
	"fmt"
	"math/bits"

	"simplex/state"
)

// Why a statistic cannot be kept. Each fails the run.
var (
	ErrCacheExceedsPrompt = errors.New("cache hits exceed the prompt tokens")
	ErrOverflow           = errors.New("token counter overflow")
	ErrSumMismatch        = errors.New("cumulative prompt and generated tokens do not add up to the total")
	ErrSlot               = errors.New("damaged context_statistic slot")
	ErrCheckpoint         = errors.New("accounted sequence is above the committed one")
	ErrGap                = errors.New("the history lacks a step that was not counted yet")
)

// usage is the four counters of one exchange, or of several.
type usage struct{ prompt, generated, cacheHit, total uint64 }

// usageOf checks one exchange's cost.
func usageOf(c *state.TokenCost) (usage, error) {
	if c.CacheHit > c.Prompt {
		return usage{}, fmt.Errorf("%w: %d of %d", ErrCacheExceedsPrompt, c.CacheHit, c.Prompt)
	}
	total, carry := bits.Add64(c.Prompt, c.Generated, 0)
	if carry != 0 {
		return usage{}, ErrOverflow
	}
	return usage{c.Prompt, c.Generated, c.CacheHit, total}, nil
}

func (u usage) plus(v usage) (usage, error) {
	var carry uint64
	add := func(a, b uint64) uint64 {
		sum, c := bits.Add64(a, b, 0)
		carry |= c
		return sum
	}
	out := usage{add(u.prompt, v.prompt), add(u.generated, v.generated), add(u.cacheHit, v.cacheHit), add(u.total, v.total)}
	if carry != 0 {
		return usage{}, ErrOverflow
	}
	return out, nil
}

func (u usage) max(v usage) usage {
	return usage{max(u.prompt, v.prompt), max(u.generated, v.generated), max(u.cacheHit, v.cacheHit), max(u.total, v.total)}
}

// counters is the slot without what derives from it.
type counters struct {
	zeroRequest uint64 // estimated_zero_request_tokens
	maximum     usage
	last        usage
	lastKnown   bool // false: the last_exchange_… members are null
	sum         usage
	sampled     uint64 // responses with usage
	inRun       uint64 // accounted_exchanges_in_run
	sequence    uint64 // accounted_commit_sequence
}

// check tests the sums, which a slot read back must fulfil too.
func (c *counters) check() error {
	if c.sum.cacheHit > c.sum.prompt {
		return fmt.Errorf("cumulative: %w: %d of %d", ErrCacheExceedsPrompt, c.sum.cacheHit, c.sum.prompt)
	}
	total, carry := bits.Add64(c.sum.prompt, c.sum.generated, 0)
	if carry != 0 {
		return ErrOverflow
	}
	if total != c.sum.total {
		return ErrSumMismatch
	}
	return nil
}

// count adds one committed step.
func (c *counters) count(s *state.Step) error {
	c.sequence = s.CommitSequence
	c.last, c.lastKnown = usage{}, false
	var cost *state.TokenCost
	if s.ModelResponse != nil {
		cost = s.ModelResponse.Cost
	}
	if cost == nil {
		return nil
	}
	u, err := usageOf(cost)
	if err != nil {
		return fmt.Errorf("step %d: %w", s.CommitSequence, err)
	}
	if c.sum, err = c.sum.plus(u); err != nil {
		return fmt.Errorf("step %d: %w", s.CommitSequence, err)
	}
	c.last, c.lastKnown = u, true
	c.maximum = c.maximum.max(u)
	c.sampled++
	return nil
}

// catchUp counts the steps of st that are newer than the checkpoint. Without a slot
// (fresh) the whole retained history counts, whatever sequence it begins with; steps of
// files older than commit sequences have none and are left out.
func (c *counters) catchUp(st *state.State, fresh bool) error {
	committed := uint64(0)
	if st.Loop != nil {
		committed = st.Loop.CommittedSequence
	}
	if c.sequence > committed {
		return fmt.Errorf("%w: %d, committed %d", ErrCheckpoint, c.sequence, committed)
	}
	steps, err := newSteps(st, c.sequence, committed, fresh)
	if err != nil {
		return err
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if err := c.count(steps[i]); err != nil {
			return err
		}
	}
	if fresh {
		c.sequence = committed
		c.inRun = uint64(len(steps))
		if st.Loop != nil {
			c.inRun = min(c.inRun, st.Loop.CompletedExchanges)
		}
	} else {
		c.inRun += uint64(len(steps))
	}
	return c.check()
}

// newSteps lists the steps after the checkpoint, newest first, and stops looking there.
func newSteps(st *state.State, checkpoint, committed uint64, fresh bool) ([]*state.Step, error) {
	var out []*state.Step
	want := committed
	for t := len(st.Turns) - 1; t >= 0; t-- {
		steps := st.Turns[t].Steps
		for i := len(steps) - 1; i >= 0; i-- {
			if !fresh && want == checkpoint {
				return out, nil
			}
			switch got := steps[i].CommitSequence; {
			case got != want:
				return nil, fmt.Errorf("%w: sequence %d where %d is due", ErrGap, got, want)
			case want == 0:
				continue
			}
			out = append(out, steps[i])
			want--
		}
	}
	if !fresh && want != checkpoint {
		return nil, fmt.Errorf("%w: sequence %d", ErrGap, want)
	}
	return out, nil
}
