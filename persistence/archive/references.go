package archive

import (
	"strings"

	"simplex/state"
)

// References lists the archives of the memory directory dir that the states name anywhere
// in prompt sections, tools, extras and turns: dir, a slash, and a run of [0-9A-Za-z-].
func References(dir string, states ...*state.State) map[string]bool {
	s := scan{found: map[string]bool{}, text: dir + "/"}
	quoted := state.StringValue(s.text).String()
	s.inJSON = quoted[1 : len(quoted)-1]
	for _, st := range states {
		if st != nil {
			s.state(st)
		}
	}
	return s.found
}

// scan looks for references in plain texts and in JSON texts.
type scan struct {
	found        map[string]bool
	text, inJSON string // what stands before a name there
}

func (s *scan) strings(texts ...string) {
	for _, t := range texts {
		s.look(t, s.text)
	}
}

func (s *scan) values(values ...state.Value) {
	for _, v := range values {
		s.look(v.String(), s.inJSON)
	}
}

func (s *scan) look(text, prefix string) {
	for {
		_, rest, ok := strings.Cut(text, prefix)
		if !ok {
			return
		}
		n := 0
		for n < len(rest) && nameByte(rest[n]) {
			n++
		}
		if n > 0 {
			s.found[rest[:n]] = true
		}
		text = rest
	}
}

func nameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-'
}

func (s *scan) state(st *state.State) {
	for _, sec := range st.SystemPrompt.Sections {
		s.strings(sec.Name, sec.Title, sec.Text)
		s.values(sec.Unknown.Value)
	}
	for _, t := range st.Tools {
		s.strings(t.Name, t.Description)
		if t.RemoteType != nil {
			s.strings(*t.RemoteType)
		}
		s.values(t.ArgumentSchema.Value, t.Extras.Value, t.Unknown.Value)
	}
	s.values(st.Extras.Value, st.Unknown.Value)
	for _, t := range st.Turns {
		s.turn(t)
	}
}

func (s *scan) turn(t *state.Turn) {
	s.message(t.UserInput)
	s.values(t.Extras.Value, t.Unknown.Value)
	for _, step := range t.Steps {
		s.message(step.ModelResponse)
		for _, m := range step.Returns {
			s.message(m)
		}
		s.values(step.Extras.Value, step.Unknown.Value)
	}
}

func (s *scan) message(m *state.Message) {
	if m == nil {
		return
	}
	s.strings(m.Role)
	for i := range m.Content {
		s.content(&m.Content[i])
	}
	s.content(m.Reasoning)
	s.content(m.ActionStatus)
	for i := range m.Calls {
		s.call(&m.Calls[i])
	}
	if r := m.Result; r != nil {
		s.call(&r.Call)
		s.content(&r.Output)
		s.values(r.Extras.Value, r.Unknown.Value)
	}
	s.values(m.Extras.Value, m.Unknown.Value)
}

func (s *scan) content(c *state.Content) {
	if c == nil {
		return
	}
	s.strings(c.Raw)
	s.values(c.Extras.Value, c.Unknown.Value)
}

func (s *scan) call(c *state.Call) {
	s.strings(c.ID, c.Name)
	s.values(c.Arguments, c.Extras.Value, c.Unknown.Value)
}
