package hubcall

import (
	"simplex/internal/text"
	"simplex/state"
	"simplex/tools/result"
)

// Limits of what is shown, in bytes.
const (
	maxBodies   = 96 << 10
	maxRendered = 256 << 10
	perBlock    = 32 // what the header of a block may grow by, once it has a body
)

// rank orders the texts: those of a lower rank get their room first.
type rank int

const (
	newest rank = iota // each turn's last answer that is not empty, and summaries
	older              // the other steps
	user               // what was sent
	ranks              // how many there are
)

// body is the text of one block, and how much of it is shown.
type body struct {
	name  string
	raw   string
	cut   bool // it came cut already
	unit  *unit
	shown int
}

// unit is what shares the room as one: a step, a summary, or a turn's user input.
type unit struct {
	rank rank
	size int
	room int
}

// record is one record of the answer: fields, then bodies.
type record struct {
	fields func(*result.Record)
	bodies []*body
}

// page is an answer that is laid out before the room of its texts is known.
type page struct {
	records []*record
	units   []*unit
	whole   bool // the texts are not cut: an answer page
}

func (p *page) record(fields func(*result.Record)) *record {
	r := &record{fields: fields}
	p.records = append(p.records, r)
	return r
}

func (p *page) unit(rk rank) *unit {
	u := &unit{rank: rk}
	p.units = append(p.units, u)
	return u
}

func (r *record) body(u *unit, name, raw string, cut bool) {
	u.size += len(raw)
	r.bodies = append(r.bodies, &body{name: name, raw: raw, cut: cut, unit: u})
}

// anyCut tells whether a text is not shown whole.
func (p *page) anyCut() bool {
	for _, r := range p.records {
		for _, b := range r.bodies {
			if b.cut || b.shown < len(b.raw) {
				return true
			}
		}
	}
	return false
}

// content measures the page without its texts, gives them their room, and renders.
func (p *page) content() (state.Content, error) {
	blocks := 0
	for _, r := range p.records {
		blocks += len(r.bodies)
	}
	room := maxRendered - len(p.render().String()) - perBlock*blocks - 1
	if room < 0 || p.whole && room < p.size() {
		return tooMuch()
	}
	if !p.whole {
		room = min(room, maxBodies)
	}
	p.share(room)
	out := p.render().Content()
	if len(out.Raw) > maxRendered {
		return tooMuch()
	}
	return out, nil
}

func tooMuch() (state.Content, error) {
	return state.Content{}, failed("the answer does not fit into %d bytes; ask with a smaller limit, or for answer pages", maxRendered)
}

func (p *page) size() int {
	n := 0
	for _, u := range p.units {
		n += u.size
	}
	return n
}

// share gives the room to the units, rank by rank, and within a unit to its bodies in
// their order.
func (p *page) share(room int) {
	for rk := range ranks {
		var same []*unit
		for _, u := range p.units {
			if u.rank == rk {
				same = append(same, u)
			}
		}
		room -= divide(same, room)
	}
	for _, r := range p.records {
		for _, b := range r.bodies {
			b.shown = len(text.Prefix(b.raw, b.unit.room))
			b.unit.room -= b.shown
		}
	}
}

// divide gives short units all they need, and the long ones equal parts of the rest.
func divide(units []*unit, room int) (given int) {
	open := 0
	for _, u := range units {
		u.room = -1
		open++
	}
	for again := true; again; {
		again = false
		for _, u := range units {
			if u.room < 0 && u.size <= (room-given)/open {
				u.room = u.size
				given += u.size
				open--
				again = open > 0
			}
		}
	}
	for _, u := range units {
		if u.room < 0 {
			u.room = (room - given) / open
			given += u.room
			open--
		}
	}
	return given
}

func (p *page) render() *result.Text {
	var out result.Text
	for _, r := range p.records {
		to := out.Record()
		r.fields(to)
		for _, b := range r.bodies {
			if b.cut || b.shown < len(b.raw) {
				to.CutBlock(b.name, b.raw[:b.shown])
			} else {
				to.Block(b.name, b.raw)
			}
		}
	}
	return &out
}
