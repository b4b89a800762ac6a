package readable

import (
	"fmt"
	"io"

	"simplex/internal/durable"
	"simplex/state"
)

// FileName is the export's name inside the state directory.
const FileName = "readable.md"

// Write writes the whole conversation (worker-data.md §7.1). It fails for text that is no
// UTF-8 (state.ErrInvalidUTF8), limits out of range (ErrLimits) and errors of w.
func Write(w io.Writer, st *state.State, limits Limits) error {
	limits, err := limits.filled()
	if err != nil {
		return err
	}
	p := newPage(w, limits)
	p.heading(1, "Agent session")
	p.note("An export for reading; the program never reads it back.")
	p.session(st)
	p.loop(st.Loop)
	p.prompt(&st.SystemPrompt)
	p.tools(st.Tools)
	p.heading(2, "Conversation")
	for i, t := range st.Turns {
		if p.err != nil {
			break
		}
		p.turn(i+1, t)
	}
	p.heading(2, "Session extras")
	p.json("Extras", st.Extras.Value)
	return p.finish()
}

// Publish replaces the file at path by the export, mode 0600, in one step: after a failure
// the old file is there unchanged (or the error is a *durable.PublishError that says that
// the new one is visible already). Missing parents are made.
func Publish(path string, st *state.State, limits Limits) error {
	err := durable.Publish(path, func(w io.Writer) error { return Write(w, st, limits) })
	if err != nil {
		return fmt.Errorf("readable export: %w", err)
	}
	return nil
}

func (p *page) session(st *state.State) {
	m := &st.Meta
	p.heading(2, "Session")
	p.text("Session ID", m.SessionID)
	p.list(
		item{"Status", string(m.Status)},
		item{"Schema version", number(uint64(m.SchemaVersion))},
		item{"Turns", number(uint64(len(st.Turns)))},
	)
	p.text("Created at", m.CreatedAt)
	p.text("Updated at", m.UpdatedAt)
	p.json("Session error", m.Error.Value)
}

func (p *page) loop(l *state.LoopProgress) {
	p.heading(2, "Loop progress")
	if l == nil {
		p.note("No loop progress recorded.")
		return
	}
	p.list(
		item{"Status", string(l.Status)},
		item{"Phase", string(l.Phase)},
		item{"Completed exchanges", number(l.CompletedExchanges)},
		item{"Committed response sequence", number(l.CommittedSequence)},
	)
	p.text("Loop error", l.Error)
	for i := range l.Pending {
		p.heading(3, fmt.Sprintf("Pending tool result %d", i+1))
		p.result(&l.Pending[i], nil)
	}
}

func (p *page) prompt(prompt *state.SystemPrompt) {
	p.heading(2, "System prompt")
	for i := range prompt.Sections {
		s := &prompt.Sections[i]
		p.heading(3, "Prompt section")
		p.text("Name", s.Name)
		p.text("Title", s.Title)
		p.list(item{"Stability", string(s.Stability)})
		p.text("Body", s.Text)
	}
}

func (p *page) tools(tools []state.Tool) {
	p.heading(2, "Tools")
	for i := range tools {
		t := &tools[i]
		p.heading(3, fmt.Sprintf("Tool %d", i+1))
		p.text("Name", t.Name)
		p.text("Description", t.Description)
		schema := t.ArgumentSchema.Value
		if !schema.IsSet() {
			schema = state.EmptyObject().Value
		}
		p.json("Argument schema", schema)
		if t.RemoteType != nil {
			p.text("Remote type", *t.RemoteType)
		}
		p.json("Tool extras", t.Extras.Value)
	}
}
