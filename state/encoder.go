package state

import "io"

// extent is where a record's text is in a buffer.
type extent struct{ start, end int }

// turnExtent is where a turn and its parts are.
type turnExtent struct {
	turn  *Turn
	at    extent
	input extent // of turn.UserInput
	steps []extent
}

// Encoder writes documents like Encode and keeps the text of the turns and steps it wrote
// last, keyed by pointer: after an appended step only that step is encoded. It holds one
// document's text and the records in it, nothing else. It belongs to one goroutine.
type Encoder struct {
	head   writer
	prompt kept[SystemPrompt]
	tools  kept[[]Tool]
	turns  writer // the turns array, as in the document
	known  []turnExtent
	old    recycled
}

// NewEncoder gives an encoder that has seen nothing yet.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode writes the document of st; see the function Encode.
func (e *Encoder) Encode(dst io.Writer, st *State) error {
	h := &e.head
	*h = writer{buf: h.buf[:0]}
	saved := h.front(st)
	h.key("system_prompt")
	e.prompt.write(h, st.SystemPrompt, samePrompt, func() { h.prompt(&st.SystemPrompt) })
	h.key("tools")
	e.tools.write(h, st.Tools, sameSlice, func() { h.tools(st.Tools) })
	h.key("turns")
	if h.err != nil {
		return h.err
	}
	if err := e.encodeTurns(st.Turns); err != nil {
		e.turns, e.known = writer{}, nil
		return err
	}
	cut := len(h.buf)
	h.close(saved)
	h.buf = append(h.buf, '\n')
	for _, part := range [][]byte{h.buf[:cut], e.turns.buf, h.buf[cut:]} {
		if _, err := dst.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// kept is the text of a part that seldom changes.
type kept[T any] struct {
	of   T
	text []byte
}

func (k *kept[T]) write(w *writer, part T, same func(a, b T) bool, write func()) {
	if k.text != nil && same(k.of, part) {
		w.buf = append(w.buf, k.text...)
		return
	}
	start := len(w.buf)
	write()
	*k = kept[T]{}
	if w.err == nil {
		*k = kept[T]{part, append([]byte(nil), w.buf[start:]...)}
	}
}

func samePrompt(a, b SystemPrompt) bool {
	return a.HeadingLevel == b.HeadingLevel && a.Unknown == b.Unknown && sameSlice(a.Sections, b.Sections)
}

// sameSlice tells that two slices, which nobody writes into, are one.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// encodeTurns brings the turns buffer up to date: what stands where it stood is left in
// place, what moved is copied, the rest is encoded.
func (e *Encoder) encodeTurns(turns []*Turn) error {
	w := &e.turns
	if w.buf == nil {
		w.buf = []byte{'['}
		w.places[1] = place{key: "turns"}
	}
	keep := e.commonTurns(turns)
	steps := e.commonSteps(turns, keep)
	cut := 1
	switch {
	case steps > 0:
		cut = e.known[keep].steps[steps-1].end
	case keep > 0:
		cut = e.known[keep-1].at.end
	}
	e.old.fill(w.buf, cut, e.known[keep:])
	w.buf = w.buf[:cut]
	w.depth, w.first = 2, keep == 0
	if steps > 0 {
		x := &e.known[keep]
		x.turn, x.steps = turns[keep], x.steps[:steps]
		e.resume(x, keep)
		keep++
	}
	e.known = e.known[:keep]
	for i := keep; i < len(turns); i++ {
		w.item(i)
		e.known = append(e.known, e.turn(turns[i]))
	}
	e.old.drop()
	clear(e.known[len(e.known):cap(e.known)])
	w.depth = 2
	w.finish(']')
	return w.err
}

// commonTurns counts the turns that stand where they stood the last time.
func (e *Encoder) commonTurns(turns []*Turn) int {
	n := 0
	for n < len(turns) && n < len(e.known) && e.known[n].turn == turns[n] {
		n++
	}
	return n
}

// commonSteps counts the first steps of the turn at index i that stand where they stood.
func (e *Encoder) commonSteps(turns []*Turn, i int) int {
	if i >= len(turns) || i >= len(e.known) {
		return 0
	}
	was, now := e.known[i].turn, turns[i]
	if was.Unknown.raw != "" || now.Unknown.raw != "" {
		return 0 // unknown members may stand before the steps
	}
	n := 0
	for n < len(was.Steps) && n < len(now.Steps) && was.Steps[n] == now.Steps[n] {
		n++
	}
	return n
}

func (e *Encoder) turn(t *Turn) turnExtent {
	w := &e.turns
	if x, text := e.old.turn(t, len(w.buf)); text != nil {
		w.buf = append(w.buf, text...)
		return x
	}
	x := turnExtent{turn: t, at: extent{start: len(w.buf)}}
	saved := w.open(t.Unknown)
	w.key("agent_loop_step")
	inner := w.rest
	w.rest = nil
	w.begin('[')
	e.steps(&x)
	w.rest = inner
	e.turnEnd(&x, saved)
	return x
}

// resume goes on with a turn whose first steps stand already.
func (e *Encoder) resume(x *turnExtent, index int) {
	w := &e.turns
	w.places[2], w.places[3] = place{item: index}, place{key: "agent_loop_step"}
	w.depth, w.first = 4, false
	e.steps(x)
	e.turnEnd(x, nil)
}

func (e *Encoder) steps(x *turnExtent) {
	w := &e.turns
	for i := len(x.steps); i < len(x.turn.Steps); i++ {
		w.item(i)
		step := x.turn.Steps[i]
		start := len(w.buf)
		if text := e.old.step(step); text != nil {
			w.buf = append(w.buf, text...)
		} else {
			w.step(step)
		}
		x.steps = append(x.steps, extent{start, len(w.buf)})
	}
	w.finish(']')
}

func (e *Encoder) turnEnd(x *turnExtent, saved []Member) {
	w := &e.turns
	w.turnTail(x.turn, func(m *Message) {
		start := len(w.buf)
		if text := e.old.input(m); text != nil {
			w.buf = append(w.buf, text...)
		} else {
			w.message(m, UserInput)
		}
		x.input = extent{start, len(w.buf)}
	})
	w.close(saved)
	x.at.end = len(w.buf)
}
