package table

import (
	"slices"

	"simplex/state"
)

// turns brings the tables from the base's turns to st's.
func (w *saver) turns(b *Base, turns []*state.Turn) {
	p := planTurns(b, turns)
	first := p.keep
	if p.modify {
		first++
	}
	if first < p.tail { // before anything grows into their ids
		w.run(sqlDropTurns, b.ids[first], b.ids[p.tail-1])
	}
	if p.modify {
		w.modifyTurn(b.ids[p.keep], b.st.Turns[p.keep], turns[p.keep])
	}
	for i := first; i < p.end; i++ {
		w.insertTurn(p.ids[i-p.keep], turns[i])
	}
	for _, t := range b.st.Turns[p.keep:p.tail] {
		w.messages -= messagesOf(t)
	}
	for _, t := range turns[p.keep:p.end] {
		w.messages += messagesOf(t)
	}
	if w.err == nil {
		b.ids = slices.Replace(b.ids, p.keep, p.tail, p.ids...)
	}
}

// modifyTurn writes what differs between two versions of one turn.
func (w *saver) modifyTurn(id int64, was, now *state.Turn) {
	if was.Retain != now.Retain || was.Extras != now.Extras || was.Unknown != now.Unknown {
		w.run(sqlTurnUpdate, text(w, now.Retain, state.RetainNormal), opt(now.Extras), opt(now.Unknown), id)
	}
	next, i := id+1, 0
	for i < len(was.Steps) && i < len(now.Steps) && was.Steps[i] == now.Steps[i] {
		next += messagesOfStep(now.Steps[i])
		i++
	}
	end := lastID(id, was)
	if i < len(was.Steps) && i < len(now.Steps) && sameResponse(was.Steps[i], now.Steps[i]) {
		w.modifyStep(id, next, end, was.Steps[i], now.Steps[i])
		next += messagesOfStep(now.Steps[i])
		i++
	} else if next <= end {
		w.run(sqlDropSteps, id, next)
	}
	for ; i < len(now.Steps); i++ {
		w.insertStep(id, next, now.Steps[i])
		next += messagesOfStep(now.Steps[i])
	}
}

func sameResponse(a, b *state.Step) bool {
	return a != nil && b != nil && a.ModelResponse != nil && a.ModelResponse == b.ModelResponse
}

// modifyStep writes what differs in a step whose response stays, and removes what stands
// behind it in the turn; end is the turn's last id.
func (w *saver) modifyStep(turn, id, end int64, was, now *state.Step) {
	kept := 0
	for kept < len(was.Returns) && kept < len(now.Returns) && was.Returns[kept] == now.Returns[kept] {
		kept++
	}
	if from := id + 1 + int64(kept); from <= end {
		w.run(sqlDropMessages, from, end)
		w.run(sqlDropSteps, turn, id+1)
	}
	if was.Retain != now.Retain || was.CommitSequence != now.CommitSequence || returnsSet(was) != returnsSet(now) ||
		was.Extras != now.Extras || was.Unknown != now.Unknown {
		w.run(sqlStepUpdate, text(w, now.Retain, state.RetainNormal), int64(now.CommitSequence), returnsSet(now),
			opt(now.Extras), opt(now.Unknown), turn, id)
	}
	for k, m := range now.Returns[kept:] {
		w.message(place{turn: turn, step: id, slot: int64(kept + k + 1)}, m)
	}
}

func (w *saver) insertTurn(id int64, t *state.Turn) {
	w.run(sqlTurn, id, text(w, t.Retain, state.RetainNormal), opt(t.Extras), opt(t.Unknown))
	w.message(place{turn: id}, t.UserInput)
	next := id + 1
	for _, s := range t.Steps {
		w.insertStep(id, next, s)
		next += messagesOfStep(s)
	}
}

func (w *saver) insertStep(turn, id int64, s *state.Step) {
	if s == nil {
		s = &state.Step{}
	}
	w.run(sqlStep, turn, id, text(w, s.Retain, state.RetainNormal), int64(s.CommitSequence), returnsSet(s),
		opt(s.Extras), opt(s.Unknown))
	w.message(place{turn: turn, step: id}, s.ModelResponse)
	for i, m := range s.Returns {
		w.message(place{turn: turn, step: id, slot: int64(i + 1)}, m)
	}
}

func returnsSet(s *state.Step) bool { return s.ReturnsSet || len(s.Returns) > 0 }
