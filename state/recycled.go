package state

// recycled is text of the last document that may be needed at another place of the next.
type recycled struct {
	text   []byte
	turns  map[*Turn]turnExtent
	steps  map[*Step]extent
	inputs map[*Message]extent
}

// fill takes what stands in buf from cut on; known are the turns that end there.
func (r *recycled) fill(buf []byte, cut int, known []turnExtent) {
	if len(known) == 0 {
		return
	}
	r.text = append(r.text[:0], buf[cut:]...)
	if r.turns == nil {
		r.turns, r.steps, r.inputs = map[*Turn]turnExtent{}, map[*Step]extent{}, map[*Message]extent{}
	}
	for _, x := range known {
		x = x.moved(-cut)
		if x.at.start >= 0 {
			r.turns[x.turn] = x
		}
		for i, at := range x.steps {
			if at.start >= 0 && x.turn.Steps[i] != nil {
				r.steps[x.turn.Steps[i]] = at
			}
		}
		if x.turn.UserInput != nil {
			r.inputs[x.turn.UserInput] = x.input
		}
	}
}

// moved gives the extents after the text moved by n bytes.
func (x turnExtent) moved(n int) turnExtent {
	steps := make([]extent, len(x.steps))
	for i, s := range x.steps {
		steps[i] = extent{s.start + n, s.end + n}
	}
	return turnExtent{x.turn, extent{x.at.start + n, x.at.end + n}, extent{x.input.start + n, x.input.end + n}, steps}
}

// drop forgets everything but the memory of small texts.
func (r *recycled) drop() {
	clear(r.turns)
	clear(r.steps)
	clear(r.inputs)
	if cap(r.text) > 1<<16 {
		r.text = nil
	}
}

// turn gives the text of a turn and its extents when it is put at the given offset.
func (r *recycled) turn(t *Turn, at int) (turnExtent, []byte) {
	x, ok := r.turns[t]
	if !ok {
		return turnExtent{}, nil
	}
	return x.moved(at - x.at.start), r.text[x.at.start:x.at.end]
}

func (r *recycled) step(s *Step) []byte {
	if x, ok := r.steps[s]; ok {
		return r.text[x.start:x.end]
	}
	return nil
}

func (r *recycled) input(m *Message) []byte {
	if x, ok := r.inputs[m]; ok {
		return r.text[x.start:x.end]
	}
	return nil
}
