package sqlitestore

import "simplex/state"

// turn reads the turn that the cursor stands on.
func (l *loader) turn(id int64) *state.Turn {
	k := l.turns
	t := &state.Turn{Retain: retain(k, 1), Extras: k.object(2), Unknown: k.object(3), Steps: []*state.Step{}}
	l.seenTurns++
	t.UserInput = l.message(place{turn: id})
	next := id + 1
	for l.steps.ok && l.steps.num(0) == id && l.err() == nil {
		s := l.step(id, next)
		t.Steps = append(t.Steps, s)
		next += messagesOfStep(s)
	}
	return t
}

func (l *loader) step(turn, id int64) *state.Step {
	k := l.steps
	if k.num(1) != id {
		k.wrong("step %d stands where %d was expected", k.num(1), id)
	}
	s := &state.Step{
		Retain: retain(k, 2), CommitSequence: uint64(k.num(3)), ReturnsSet: k.num(4) != 0,
		Extras: k.object(5), Unknown: k.object(6),
	}
	k.advance()
	s.ModelResponse = l.message(place{turn: turn, step: id})
	if s.ReturnsSet {
		s.Returns = []*state.Message{}
	}
	m := l.messages
	for slot := int64(1); m.ok && m.num(1) == turn && !m.null(2) && m.num(2) == id && l.err() == nil; slot++ {
		s.Returns = append(s.Returns, l.message(place{turn: turn, step: id, slot: slot}))
	}
	return s
}

// message reads the message that must stand next.
func (l *loader) message(p place) *state.Message {
	k := l.messages
	id := p.id()
	if !k.ok || k.num(0) != id || k.num(1) != p.turn || k.null(2) != (p.step == 0) || p.step != 0 && k.num(2) != p.step || k.num(3) != p.slot {
		k.wrong("message %d is missing or misplaced", id)
		return nil
	}
	l.seenMessages++
	m := &state.Message{
		Type: word(k, 4, state.UserInput, state.ModelResponse, state.InvokeReturn), Role: k.text(5),
		Content: []state.Content{}, CallsSet: k.num(7) != 0, Extras: k.object(12), Unknown: k.object(13),
	}
	repeated := k.num(6) != 0
	if !k.null(8) {
		m.Cost = &state.TokenCost{Prompt: uint64(k.num(8)), Generated: uint64(k.num(9)), CacheHit: uint64(k.num(10)), Unknown: k.object(11)}
	}
	k.advance()
	l.parts(id, m)
	if repeated {
		if m.Result == nil || len(m.Content) > 0 {
			k.wrong("message %d has no result", id)
			return nil
		}
		m.Content = append(m.Content, m.Result.Output)
	}
	return m
}

// parts reads what belongs to the message.
func (l *loader) parts(id int64, m *state.Message) {
	k := l.contents
	for ; k.ok && k.num(0) == id; k.advance() {
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
	for ; k.ok && k.num(0) == id; k.advance() {
		m.Calls = append(m.Calls, call(k, 1))
	}
	if k = l.results; k.ok && k.num(0) == id {
		r := result(k, 1)
		m.Result = &r
		k.advance()
	}
}

// content reads type, raw, modality, extras and unknown members from column i on.
func content(k *cursor, i int) state.Content {
	return state.Content{
		Type: word(k, i, state.TypeText, state.TypeBinary, state.TypeExternalRef), Raw: k.text(i + 1),
		Modality: strict(k, i+2, state.ModalityText, state.ModalityImage, state.ModalityAudio, state.ModalityVideo, state.ModalityDocument),
		Extras:   k.object(i + 3), Unknown: k.object(i + 4),
	}
}

// call reads type, security, id, name, arguments, extras and unknown members.
func call(k *cursor, i int) state.Call {
	return state.Call{
		Type:     word(k, i, state.ReadOnly, state.ParallWrite, state.SerialWrite),
		Security: word(k, i+1, state.DefaultDeny, state.RequireConfirm, state.Trusted),
		ID:       k.text(i + 2), Name: k.text(i + 3), Arguments: k.value(i + 4), Extras: k.object(i + 5), Unknown: k.object(i + 6),
	}
}

// result reads the columns of resultColumns.
func result(k *cursor, i int) state.Result {
	return state.Result{Call: call(k, i), Output: content(k, i+7), Extras: k.object(i + 12), Unknown: k.object(i + 13)}
}

func retain(k *cursor, i int) state.RetainPriority {
	return word(k, i, state.RetainNormal, state.RetainDiscardable, state.RetainPinned)
}
