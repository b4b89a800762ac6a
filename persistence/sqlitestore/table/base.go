package table

import "simplex/state"

// idStride leaves room between turns, so that a rewritten one may grow in its place.
const idStride = 64

// Base is what the tables hold: the records as they were saved and their ids. The zero
// value knows of none. It is for one goroutine at a time.
//
// Ids of messages grow in the order of the document. A turn has the id of its user
// input, a step that of its model response; inside a turn they follow each other
// without a gap. So the id of a turn is all that has to be kept.
type Base struct {
	st       state.State // turns are compared by pointer; records are immutable
	ids      []int64     // of st.Turns
	messages int64
}

// lastID is the id of the turn's last message.
func lastID(id int64, t *state.Turn) int64 { return id + messagesOf(t) - 1 }

// messagesOf counts the input, the responses and the returns.
func messagesOf(t *state.Turn) int64 {
	n := int64(1)
	for _, s := range t.Steps {
		n += messagesOfStep(s)
	}
	return n
}

func messagesOfStep(s *state.Step) int64 {
	if s == nil {
		return 1
	}
	return 1 + int64(len(s.Returns))
}

// Remember makes st, which was saved with Save or Image, the next base. The loop is
// copied: it belongs to its owner.
func (b *Base) Remember(st *state.State) {
	b.st = *st
	if st.Loop != nil {
		loop := *st.Loop
		b.st.Loop = &loop
	}
}

// plan says how the turns of a base become others: the first keep turns stay, those up
// to tail go (the first of them is rewritten in place where modify is set), new ones
// with the given ids take their place, and what follows in the base stays.
type plan struct {
	keep, tail int // indexes into the base's turns
	end        int // index after the last new turn
	modify     bool
	ids        []int64 // of the new turns [keep, end)
}

// planTurns compares by pointer. Its cost is one comparison for each turn.
func planTurns(b *Base, turns []*state.Turn) plan {
	old := b.st.Turns
	p := plan{tail: len(old), end: len(turns)}
	if sameSlice(old, turns) {
		p.keep = len(old)
		return p
	}
	for p.keep < len(old) && p.keep < len(turns) && old[p.keep] == turns[p.keep] {
		p.keep++
	}
	for p.tail > p.keep && p.end > p.keep && old[p.tail-1] == turns[p.end-1] {
		p.tail--
		p.end--
	}
	p.modify = p.keep < p.tail && p.keep < p.end && old[p.keep].UserInput != nil &&
		old[p.keep].UserInput == turns[p.keep].UserInput
	if p.tail < len(old) && !p.number(b, turns, 1, b.ids[p.tail]) {
		p.tail, p.end = len(old), len(turns) // no room: what follows is written anew
	}
	if p.tail == len(old) {
		p.number(b, turns, idStride, 1<<62)
	}
	return p
}

// number gives the new turns ids that are multiples of stride and tells whether they
// stay below limit.
func (p *plan) number(b *Base, turns []*state.Turn, stride, limit int64) bool {
	p.ids = p.ids[:0]
	last := int64(0)
	if p.keep > 0 {
		last = lastID(b.ids[p.keep-1], b.st.Turns[p.keep-1])
	}
	for i := p.keep; i < p.end; i++ {
		id := (last/stride + 1) * stride
		if p.modify && i == p.keep {
			id = b.ids[i]
		}
		p.ids = append(p.ids, id)
		last = lastID(id, turns[i])
	}
	return last < limit
}

// sameSlice tells that two slices, which nobody writes into, are one.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
