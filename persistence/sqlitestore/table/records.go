package table

import (
	"database/sql/driver"

	"simplex/state"
)

// place is where a message stands: step 0 is the turn's user input, slot 0 of a step its
// response, the others its returns.
type place struct{ turn, step, slot int64 }

// id is the message's; see Base.
func (p place) id() int64 {
	if p.step == 0 {
		return p.turn
	}
	return p.step + p.slot
}

// fallback is the type of a message that is missing there.
func (p place) fallback() state.MessageType {
	switch {
	case p.step == 0:
		return state.UserInput
	case p.slot == 0:
		return state.ModelResponse
	}
	return state.InvokeReturn
}

func (w *saver) message(p place, m *state.Message) {
	if m == nil {
		m = &state.Message{Type: p.fallback()}
	}
	var step driver.Value
	if p.step != 0 {
		step = p.step
	}
	cost := [4]driver.Value{}
	if c := m.Cost; c != nil {
		cost = [4]driver.Value{int64(c.Prompt), int64(c.Generated), int64(c.CacheHit), opt(c.Unknown)}
	}
	// A result's projection repeats its output (worker-data.md §1.7); once is enough.
	repeated := m.Result != nil && len(m.Content) == 1 && m.Content[0] == m.Result.Output
	id := p.id()
	w.run(sqlMessage, id, p.turn, step, p.slot, text(w, m.Type, state.UserInput), w.str(m.Role),
		repeated, m.CallsSet || len(m.Calls) > 0, cost[0], cost[1], cost[2], cost[3], opt(m.Extras), opt(m.Unknown))
	if !repeated {
		for i := range m.Content {
			w.content(id, "content", i, &m.Content[i])
		}
	}
	w.content(id, "reasoning", 0, m.Reasoning)
	w.content(id, "status", 0, m.ActionStatus)
	for i := range m.Calls {
		w.call(id, i, &m.Calls[i])
	}
	if m.Result != nil {
		w.result(sqlResult, id, m.Result)
	}
}

func (w *saver) content(message int64, place string, position int, c *state.Content) {
	if c == nil {
		return
	}
	w.run(sqlContent, message, place, int64(position), text(w, c.Type, state.TypeText), w.str(c.Raw),
		text(w, c.Modality, state.ModalityText), opt(c.Extras), opt(c.Unknown))
}

func (w *saver) call(message int64, position int, c *state.Call) {
	w.run(sqlCall, message, int64(position), text(w, c.Type, state.ReadOnly), text(w, c.Security, state.DefaultDeny),
		w.str(c.ID), w.str(c.Name), always(c.Arguments), opt(c.Extras), opt(c.Unknown))
}

// result writes a result into the table of sql under the key.
func (w *saver) result(sql string, key int64, r *state.Result) {
	c, o := &r.Call, &r.Output
	w.run(sql, key, text(w, c.Type, state.ReadOnly), text(w, c.Security, state.DefaultDeny), w.str(c.ID), w.str(c.Name),
		always(c.Arguments), opt(c.Extras), opt(c.Unknown),
		text(w, o.Type, state.TypeText), w.str(o.Raw), text(w, o.Modality, state.ModalityText), opt(o.Extras), opt(o.Unknown),
		opt(r.Extras), opt(r.Unknown))
}

// opt is an optional object as a column.
func opt(o state.Object) driver.Value {
	if !o.IsSet() {
		return nil
	}
	return o.String()
}

// always is a value that is written even if unset, as {}.
func always(v state.Value) driver.Value {
	if !v.IsSet() {
		return "{}"
	}
	return v.String()
}
