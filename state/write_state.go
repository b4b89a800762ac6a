package state

import (
	"io"
	"strconv"
)

func (w *writer) section(s *Section) {
	saved := w.open(s.Unknown)
	w.str("name", s.Name)
	word(w, "stability", s.Stability, Immutable)
	w.str("text", s.Text)
	w.str("title", s.Title)
	w.close(saved)
}

func (w *writer) prompt(p *SystemPrompt) {
	saved := w.open(p.Unknown)
	w.key("heading_level")
	w.buf = strconv.AppendInt(w.buf, int64(p.HeadingLevel), 10)
	w.array("sections", len(p.Sections), func(i int) { w.section(&p.Sections[i]) })
	w.close(saved)
}

func (w *writer) tools(tools []Tool) {
	w.list(len(tools), func(i int) { w.tool(&tools[i]) })
}

// front writes what stands before a state's prompt, and leaves the object open.
func (w *writer) front(st *State) (saved []Member) {
	saved = w.open(st.Unknown)
	w.optional("extras", st.Extras)
	if st.Loop != nil {
		w.key("loop")
		w.loop(st.Loop)
	}
	w.key("meta")
	w.meta(&st.Meta)
	return saved
}

func (w *writer) state(st *State) {
	saved := w.front(st)
	w.key("system_prompt")
	w.prompt(&st.SystemPrompt)
	w.key("tools")
	w.tools(st.Tools)
	w.array("turns", len(st.Turns), func(i int) { w.turn(st.Turns[i]) })
	w.close(saved)
}

// Encode writes the document of worker-data.md §1.1: keys sorted, two spaces, one newline
// at the end. Nothing is written when a string is invalid UTF-8 (*EncodeError, which
// wraps ErrInvalidUTF8).
func Encode(dst io.Writer, st *State) error {
	return NewEncoder().Encode(dst, st)
}
