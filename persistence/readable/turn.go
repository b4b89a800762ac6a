package readable

import (
	"fmt"

	"simplex/state"
)

func (p *page) turn(n int, t *state.Turn) {
	title := fmt.Sprintf("Turn %d", n)
	p.heading(3, title)
	p.list(item{"Retention", string(t.Retain)})
	p.heading(4, "User input")
	p.place = title + ", user input"
	p.message(t.UserInput)
	for i, s := range t.Steps {
		p.step(title, i+1, s)
	}
	p.place = title
	p.json("Turn extras", t.Extras.Value)
}

func (p *page) step(turn string, n int, s *state.Step) {
	title := fmt.Sprintf("Step %d", n)
	p.heading(4, title)
	p.place = turn + ", " + title
	var items []item
	if s.CommitSequence != 0 {
		items = append(items, item{"Commit sequence", number(s.CommitSequence)})
	}
	p.list(append(items, item{"Retention", string(s.Retain)})...)
	p.heading(5, "Model response")
	p.place = turn + ", " + title
	p.message(s.ModelResponse)
	for i, m := range s.Returns {
		p.heading(5, fmt.Sprintf("Tool result %d", i+1))
		p.place = fmt.Sprintf("%s, %s, tool result %d", turn, title, i+1)
		p.message(m)
	}
	p.json("Step extras", s.Extras.Value)
}

// message writes the parts of a message in the order of §7.2.
func (p *page) message(m *state.Message) {
	if m == nil {
		return
	}
	p.list(item{"Type", string(m.Type)})
	p.text("Role", m.Role)
	for i := range m.Content {
		label := "Content"
		if len(m.Content) > 1 {
			label = fmt.Sprintf("Content %d", i+1)
		}
		p.content(label, &m.Content[i])
	}
	if m.Reasoning != nil {
		p.content("Reasoning", m.Reasoning)
	}
	if m.ActionStatus != nil {
		p.content("Action status", m.ActionStatus)
	}
	for i := range m.Calls {
		p.note("**Tool call**")
		p.call(&m.Calls[i])
	}
	if m.Result != nil {
		p.note("**Tool result record**")
		var first *state.Content
		if len(m.Content) > 0 {
			first = &m.Content[0]
		}
		p.result(m.Result, first)
	}
	if m.Cost != nil {
		p.tokens(m.Cost)
	}
	p.json("Message extras", m.Extras.Value)
}

func (p *page) tokens(c *state.TokenCost) {
	p.json("Tokens", state.ObjectFrom([]state.Member{
		{Name: "prompt", Value: state.UintValue(c.Prompt)},
		{Name: "generated", Value: state.UintValue(c.Generated)},
		{Name: "cache_hit", Value: state.UintValue(c.CacheHit)},
	}).Value)
}

// content writes one part. A text that is a JSON object or array is shown as a preview.
func (p *page) content(label string, c *state.Content) {
	p.valid(label, c.Raw)
	switch c.Type {
	case state.TypeBinary:
		p.note("**" + label + "**")
		p.note(fmt.Sprintf("[binary content omitted; %d base64 bytes]", len(c.Raw)))
	case state.TypeExternalRef:
		p.text(label+" (external reference)", c.Raw)
	default:
		if v, ok := structured(c.Raw); ok {
			p.json(label, v)
		} else {
			p.text(label, c.Raw)
		}
	}
	p.json(label+" extras", c.Extras.Value)
}

// structured parses a text that looks like a JSON object or array.
func structured(raw string) (state.Value, bool) {
	if raw == "" || raw[0] != '{' && raw[0] != '[' {
		return state.Value{}, false
	}
	v, err := state.ParseValue([]byte(raw))
	return v, err == nil
}

func (p *page) call(c *state.Call) {
	p.text("Tool name", c.Name)
	p.text("Call ID", c.ID)
	p.list(item{"Invocation type", string(c.Type)}, item{"Security", string(c.Security)})
	arguments := c.Arguments
	if !arguments.IsSet() {
		arguments = state.EmptyObject().Value
	}
	p.json("Arguments", arguments)
	p.json("Call extras", c.Extras.Value)
}

// result writes a record; its output only where the message does not show it already.
func (p *page) result(r *state.Result, shown *state.Content) {
	p.call(&r.Call)
	o := &r.Output
	if shown == nil || shown.Type != o.Type || shown.Raw != o.Raw || shown.Extras != o.Extras {
		p.content("Recorded output", o)
	}
	p.json("Result extras", r.Extras.Value)
}
