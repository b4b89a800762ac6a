package state

// The record writers: members in bytewise order of their names.

func (w *writer) turn(t *Turn) {
	saved := w.open(t.Unknown)
	w.array("agent_loop_step", len(t.Steps), func(i int) { w.step(t.Steps[i]) })
	w.turnTail(t, func(m *Message) { w.message(m, UserInput) })
	w.close(saved)
}

// turnTail writes what follows a turn's steps, the input by the given function.
func (w *writer) turnTail(t *Turn, input func(*Message)) {
	w.optional("extras", t.Extras)
	word(w, "retain_priority", t.Retain, RetainNormal)
	w.key("user_input")
	input(t.UserInput)
}

func (w *writer) step(t *Step) {
	if t == nil {
		t = &Step{}
	}
	saved := w.open(t.Unknown)
	if t.CommitSequence != 0 {
		w.uint("commit_sequence", t.CommitSequence)
	}
	w.optional("extras", t.Extras)
	if t.ReturnsSet || len(t.Returns) > 0 {
		w.array("invoke_returns", len(t.Returns), func(i int) { w.message(t.Returns[i], InvokeReturn) })
	}
	w.key("model_response")
	w.message(t.ModelResponse, ModelResponse)
	word(w, "retain_priority", t.Retain, RetainNormal)
	w.close(saved)
}

// message writes a message; nil is an empty one of the type that belongs to its place.
func (w *writer) message(m *Message, fallback MessageType) {
	if m == nil {
		m = &Message{Type: fallback}
	}
	saved := w.open(m.Unknown)
	if m.ActionStatus != nil {
		w.key("action_status")
		w.content(m.ActionStatus)
	}
	w.array("content", len(m.Content), func(i int) { w.content(&m.Content[i]) })
	if m.Cost != nil {
		w.key("cost")
		w.cost(m.Cost)
	}
	w.optional("extras", m.Extras)
	if m.Result != nil {
		w.key("invoke_return")
		w.result(m.Result)
	}
	if m.CallsSet || len(m.Calls) > 0 {
		w.array("invokes", len(m.Calls), func(i int) { w.call(&m.Calls[i]) })
	}
	if m.Reasoning != nil {
		w.key("reasoning")
		w.content(m.Reasoning)
	}
	w.str("role", m.Role)
	word(w, "type", m.Type, UserInput)
	w.close(saved)
}

func (w *writer) content(c *Content) {
	saved := w.open(c.Unknown)
	w.optional("extras", c.Extras)
	word(w, "modality", c.Modality, ModalityText)
	w.str("raw", c.Raw)
	word(w, "type", c.Type, TypeText)
	w.close(saved)
}

func (w *writer) cost(c *TokenCost) {
	saved := w.open(c.Unknown)
	w.uint("cache_hit", c.CacheHit)
	w.uint("generated", c.Generated)
	w.uint("prompt", c.Prompt)
	w.close(saved)
}

func (w *writer) call(c *Call) {
	saved := w.open(c.Unknown)
	w.always("arguments", c.Arguments)
	w.optional("extras", c.Extras)
	w.str("id", c.ID)
	w.str("name", c.Name)
	word(w, "security", c.Security, DefaultDeny)
	word(w, "type", c.Type, ReadOnly)
	w.close(saved)
}

func (w *writer) result(r *Result) {
	saved := w.open(r.Unknown)
	w.optional("extras", r.Extras)
	w.key("output")
	w.content(&r.Output)
	w.key("query")
	w.call(&r.Call)
	w.close(saved)
}

func (w *writer) loop(l *LoopProgress) {
	saved := w.open(l.Unknown)
	w.uint("committed_response_sequence", l.CommittedSequence)
	w.uint("completed_exchanges", l.CompletedExchanges)
	w.str("error", l.Error)
	w.array("pending_results", len(l.Pending), func(i int) { w.result(&l.Pending[i]) })
	word(w, "phase", l.Phase, PhaseReady)
	word(w, "status", l.Status, StatusIdle)
	w.close(saved)
}

func (w *writer) tool(t *Tool) {
	saved := w.open(t.Unknown)
	w.always("argument_schema", t.ArgumentSchema.Value)
	w.str("description", t.Description)
	w.optional("extras", t.Extras)
	w.str("name", t.Name)
	if t.RemoteType != nil {
		w.str("remote_type", *t.RemoteType)
	}
	w.close(saved)
}

func (w *writer) meta(m *Meta) {
	saved := w.open(m.Unknown)
	w.str("created_at", m.CreatedAt)
	w.optional("error", m.Error)
	w.uint("schema_version", uint64(m.SchemaVersion))
	w.str("session_id", m.SessionID)
	word(w, "status", m.Status, SessionActive)
	w.str("updated_at", m.UpdatedAt)
	w.close(saved)
}
