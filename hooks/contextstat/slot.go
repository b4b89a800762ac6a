package contextstat

import (
	"fmt"
	"strconv"

	"simplex/state"
)

const statusName = "external_status"

// number is one integer member of the slot.
type number struct {
	name  string
	value *uint64
}

func (c *counters) numbers() []number {
	return []number{
		{"accounted_commit_sequence", &c.sequence},
		{"accounted_exchanges_in_run", &c.inRun},
		{"cumulative_exchange_cache_hit_tokens", &c.sum.cacheHit},
		{"cumulative_exchange_generated_tokens", &c.sum.generated},
		{"cumulative_exchange_prompt_tokens", &c.sum.prompt},
		{"cumulative_exchange_total_tokens", &c.sum.total},
		{"estimated_zero_request_tokens", &c.zeroRequest},
		{"max_exchange_cache_hit_tokens", &c.maximum.cacheHit},
		{"max_exchange_generated_tokens", &c.maximum.generated},
		{"max_exchange_prompt_tokens", &c.maximum.prompt},
		{"max_exchange_total_tokens", &c.maximum.total},
		{"sampled_exchange_count", &c.sampled},
	}
}

func (c *counters) lastNumbers() []number {
	return []number{
		{"last_exchange_cache_hit_tokens", &c.last.cacheHit},
		{"last_exchange_generated_tokens", &c.last.generated},
		{"last_exchange_prompt_tokens", &c.last.prompt},
		{"last_exchange_total_tokens", &c.last.total},
	}
}

// slotOf finds the slot in a state's extras; unset if there is none.
func slotOf(extras state.Object) (status, slot state.Object, err error) {
	v, ok := extras.Get(statusName)
	if !ok {
		return state.Object{}, state.Object{}, nil
	}
	if status, err = v.Object(); err != nil {
		return status, slot, fmt.Errorf("%w: %s: %w", ErrSlot, statusName, err)
	}
	if v, ok = status.Get(HookName); !ok {
		return status, state.Object{}, nil
	}
	if slot, err = v.Object(); err != nil {
		return status, slot, fmt.Errorf("%w: %w", ErrSlot, err)
	}
	return status, slot, nil
}

// read takes the counters out of a slot. All must be there as JSON integers >= 0, those
// of the last exchange as integers or all null.
func read(slot state.Object) (counters, error) {
	members := make(map[string]state.Value, 24)
	for name, v := range slot.All() {
		members[name] = v
	}
	var c counters
	for _, n := range c.numbers() {
		if err := readNumber(members, n); err != nil {
			return c, err
		}
	}
	nulls := 0
	for _, n := range c.lastNumbers() {
		if v := members[n.name]; v.IsSet() && v.IsNull() {
			nulls++
		} else if err := readNumber(members, n); err != nil {
			return c, err
		}
	}
	if nulls != 0 && nulls != 4 {
		return c, fmt.Errorf("%w: the last exchange is partly null", ErrSlot)
	}
	c.lastKnown = nulls == 0
	return c, c.check()
}

func readNumber(members map[string]state.Value, n number) error {
	v, ok := members[n.name]
	if !ok {
		return fmt.Errorf("%w: %s is missing", ErrSlot, n.name)
	}
	x, err := strconv.ParseUint(v.String(), 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %s is no integer >= 0: %.40s", ErrSlot, n.name, v)
	}
	*n.value = x
	return nil
}

// write makes the slot.
func (c *counters) write(window uint64) (state.Object, error) {
	members := make([]state.Member, 0, 20)
	for _, n := range c.numbers() {
		members = append(members, state.Member{Name: n.name, Value: state.UintValue(*n.value)})
	}
	for _, n := range c.lastNumbers() {
		v := state.NullValue()
		if c.lastKnown {
			v = state.UintValue(*n.value)
		}
		members = append(members, state.Member{Name: n.name, Value: v})
	}
	left, err := ratio(c.lastKnown, float64(window)-float64(c.last.total), window)
	if err != nil {
		return state.Object{}, err
	}
	hits, err := ratio(c.sum.prompt > 0, float64(c.sum.cacheHit), c.sum.prompt)
	if err != nil {
		return state.Object{}, err
	}
	members = append(members,
		state.Member{Name: "context_window_tokens", Value: state.UintValue(window)},
		state.Member{Name: "last_window_remaining_ratio", Value: left},
		state.Member{Name: "average_cache_hit_probability", Value: hits})
	return state.ObjectFrom(members), nil
}

func ratio(known bool, part float64, whole uint64) (state.Value, error) {
	if !known {
		return state.NullValue(), nil
	}
	return state.FloatValue(part / float64(whole))
}
