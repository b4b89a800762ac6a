package table

import (
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/state"
)

// turn reads the turn that the cursor stands on.
func (l *loader) turn(id int64) *state.Turn {
	k := l.turns
	t := &state.Turn{Retain: retain(k, 1), Extras: object(k, 2), Unknown: object(k, 3), Steps: []*state.Step{}}
	l.seenTurns++
	t.UserInput = l.message(place{turn: id})
	next := id + 1
	for l.steps.OK() && l.steps.Num(0) == id && l.err() == nil {
		s := l.step(id, next)
		t.Steps = append(t.Steps, s)
		next += messagesOfStep(s)
	}
	return t
}

func (l *loader) step(turn, id int64) *state.Step {
	k := l.steps
	if k.Num(1) != id {
		k.Wrong("step %d stands where %d was expected", k.Num(1), id)
	}
	s := &state.Step{
		Retain: retain(k, 2), CommitSequence: uint64(k.Num(3)), ReturnsSet: k.Num(4) != 0,
		Extras: object(k, 5), Unknown: object(k, 6),
	}
	k.Advance()
	s.ModelResponse = l.message(place{turn: turn, step: id})
	if s.ReturnsSet {
		s.Returns = []*state.Message{}
	}
	m := l.messages
	for slot := int64(1); m.OK() && m.Num(1) == turn && !m.Null(2) && m.Num(2) == id && l.err() == nil; slot++ {
		s.Returns = append(s.Returns, l.message(place{turn: turn, step: id, slot: slot}))
	}
	return s
}

// message reads the message that must stand next.
func (l *loader) message(p place) *state.Message {
	k := l.messages
	id := p.id()
	if !k.OK() || k.Num(0) != id || k.Num(1) != p.turn || k.Null(2) != (p.step == 0) || p.step != 0 && k.Num(2) != p.step || k.Num(3) != p.slot {
		k.Wrong("message %d is missing or misplaced", id)
		return nil
	}
	l.seenMessages++
	m := &state.Message{
		Type: word(k, 4, state.UserInput, state.ModelResponse, state.InvokeReturn), Role: k.Text(5),
		Content: []state.Content{}, CallsSet: k.Num(7) != 0, Extras: object(k, 12), Unknown: object(k, 13),
	}
	repeated := k.Num(6) != 0
	if !k.Null(8) {
		m.Cost = &state.TokenCost{Prompt: uint64(k.Num(8)), Generated: uint64(k.Num(9)), CacheHit: uint64(k.Num(10)), Unknown: object(k, 11)}
	}
	k.Advance()
	l.parts(id, m)
	if repeated {
		if m.Result == nil || len(m.Content) > 0 {
			k.Wrong("message %d has no result", id)
			return nil
		}
		m.Content = append(m.Content, m.Result.Output)
	}
	return m
}

// parts reads what belongs to the message.
func (l *loader) parts(id int64, m *state.Message) {
	k := l.contents
	for ; k.OK() && k.Num(0) == id; k.Advance() {
		c := content(k, 3)
		switch strict(k, 1, "content", "reasoning", "status") {
		case "content":
			m.Content = append(m.Content, c)
		case "reasoning":
			m.Reasoning = &c
		case "status":
			m.ActionStatus = &c
		}
	}
	if m.CallsSet {
		m.Calls = []state.Call{}
	}
	k = l.calls
	for ; k.OK() && k.Num(0) == id; k.Advance() {
		m.Calls = append(m.Calls, call(k, 1))
	}
	if k = l.results; k.OK() && k.Num(0) == id {
		r := result(k, 1)
		m.Result = &r
		k.Advance()
	}
}

// content reads type, raw, modality, extras and unknown members from column i on.
func content(k *sqlite.Cursor, i int) state.Content {
	return state.Content{
		Type: word(k, i, state.TypeText, state.TypeBinary, state.TypeExternalRef), Raw: k.Text(i + 1),
		Modality: strict(k, i+2, state.ModalityText, state.ModalityImage, state.ModalityAudio, state.ModalityVideo, state.ModalityDocument),
		Extras:   object(k, i+3), Unknown: object(k, i+4),
	}
}

// call reads type, security, id, name, arguments, extras and unknown members.
func call(k *sqlite.Cursor, i int) state.Call {
	return state.Call{
		Type:     word(k, i, state.ReadOnly, state.ParallWrite, state.SerialWrite),
		Security: word(k, i+1, state.DefaultDeny, state.RequireConfirm, state.Trusted),
		ID:       k.Text(i + 2), Name: k.Text(i + 3), Arguments: value(k, i+4), Extras: object(k, i+5), Unknown: object(k, i+6),
	}
}

// result reads the columns of resultColumns.
func result(k *sqlite.Cursor, i int) state.Result {
	return state.Result{Call: call(k, i), Output: content(k, i+7), Extras: object(k, i+12), Unknown: object(k, i+13)}
}

func retain(k *sqlite.Cursor, i int) state.RetainPriority {
	return word(k, i, state.RetainNormal, state.RetainDiscardable, state.RetainPinned)
}
