package chat

import (
	"fmt"
	"unsafe"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/state"
)

// encoder builds request bodies and remembers the last one. Records are immutable, so
// one that stands where the same pointer stood last time has the same bytes: only what
// is behind the common prefix is encoded. It is for one exchange at a time.
type encoder struct {
	dialect Dialect

	settings state.Object // what head was made of
	tools    []state.Tool
	head     []byte

	prompt state.SystemPrompt // what system was made of
	system []byte             // the system message, or nothing

	replay bool   // reasoning is sent back
	msgs   []byte // the other messages, each with a comma in front
	parts  []part
	ids    *idSet // of all calls in msgs
}

// part is one record in msgs: a turn's *state.Message or a *state.Step.
type part struct {
	record any
	end    int // of its bytes in msgs
	ids    int // size of the id set behind it
}

var tail = []byte("]}")

func newEncoder(d Dialect) *encoder { return &encoder{dialect: d, ids: newIDSet()} }

// build gives the body for a conversation. It is valid until the next call.
func (e *encoder) build(settings state.Object, st *state.State) (post.Body, error) {
	if err := e.buildHead(settings, st.Tools); err != nil {
		return nil, err
	}
	if err := e.buildSystem(st.SystemPrompt); err != nil {
		return nil, err
	}
	if err := e.buildMessages(st.Turns); err != nil {
		return nil, err
	}
	msgs := e.msgs
	if len(e.system) == 0 && len(msgs) > 0 {
		msgs = msgs[1:]
	}
	if len(e.system)+len(msgs) == 0 {
		return nil, llm.ErrEmptyRequest
	}
	return post.Body{e.head, e.system, msgs, tail}, nil
}

func (e *encoder) buildHead(settings state.Object, tools []state.Tool) error {
	if e.head != nil && settings == e.settings && sameSlice(tools, e.tools) {
		return nil
	}
	body, err := requestSettings(settings, e.dialect)
	if err != nil {
		return err
	}
	head, err := appendHead(nil, body, tools)
	if err != nil {
		return err
	}
	if replay := e.dialect.ReplaysReasoning != nil && e.dialect.ReplaysReasoning(settings); replay != e.replay {
		e.replay = replay
		e.truncate(0)
	}
	e.head, e.settings, e.tools = head, settings, tools
	return nil
}

func (e *encoder) buildSystem(p state.SystemPrompt) error {
	if e.prompt.HeadingLevel == p.HeadingLevel && sameSlice(p.Sections, e.prompt.Sections) {
		return nil
	}
	text, err := p.Render()
	if err != nil {
		return err
	}
	e.system = nil
	if text != "" {
		e.system = append(appendText([]byte(`{"role":"system","content":`), text), '}')
	}
	e.prompt = p
	return nil
}

// sameSlice tells whether two slices are the same piece of memory. Records are never
// written to once they are part of a state, so the content is the same, too.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

func (e *encoder) buildMessages(turns []*state.Turn) error {
	i := 0
	for t, turn := range turns {
		if turn == nil || turn.UserInput == nil {
			return fmt.Errorf("turn %d has no user input", t)
		}
		input := turn.UserInput
		if !e.keeps(i, input) {
			if err := e.add(i, input, func() error { return e.appendUser(input) }); err != nil {
				return fmt.Errorf("turn %d: user input: %w", t, err)
			}
		}
		i++
		for s, step := range turn.Steps {
			if !e.keeps(i, step) {
				if err := e.add(i, step, func() error { return e.appendStep(step) }); err != nil {
					return fmt.Errorf("turn %d, step %d: %w", t, s, err)
				}
			}
			i++
		}
	}
	e.truncate(i)
	return nil
}

// keeps tells whether part i is still that record.
func (e *encoder) keeps(i int, record any) bool {
	return i < len(e.parts) && e.parts[i].record == record
}

// add puts a record in as part i, in place of all parts from there on.
func (e *encoder) add(i int, record any, write func() error) error {
	e.truncate(i)
	if err := write(); err != nil {
		e.cutBack()
		return err
	}
	e.parts = append(e.parts, part{record, len(e.msgs), e.ids.len()})
	return nil
}

// truncate forgets all parts from n on.
func (e *encoder) truncate(n int) {
	if n < len(e.parts) {
		clear(e.parts[n:])
		e.parts = e.parts[:n]
		e.cutBack()
	}
}

// cutBack drops bytes and ids that belong to no part.
func (e *encoder) cutBack() {
	end, ids := 0, 0
	if n := len(e.parts); n > 0 {
		end, ids = e.parts[n-1].end, e.parts[n-1].ids
	}
	e.msgs = e.msgs[:end]
	e.ids.truncate(ids)
}
