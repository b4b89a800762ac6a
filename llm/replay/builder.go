package replay

import (
	"bytes"
	"errors"
	"fmt"

	"simplex/llm"
	"simplex/state"
)

// Form is how one protocol writes a conversation. A body is head, prompt, the records
// in order, each with a comma in front, and `]}`. It is used by one goroutine.
type Form interface {
	// Head gives the settings and the tools, from the brace on. anew tells that these
	// settings change how records are written.
	Head(settings state.Object, tools []state.Tool) (head []byte, anew bool, err error)
	// Prompt gives what stands between head and records, the bracket of the list
	// included. The text may be empty.
	Prompt(text string) []byte
	// User and Step append a record to dst; nothing at all is allowed.
	User(dst []byte, m *state.Message) ([]byte, error)
	Step(dst []byte, step *state.Step, ids *IDs) ([]byte, error)
}

// Builder builds request bodies and remembers the last one. Records are immutable, so
// one that stands where the same pointer stood last time has the same bytes: only what
// is behind the common prefix is written. It is for one exchange at a time.
type Builder struct {
	form Form

	settings state.Object // what head was made of
	tools    []state.Tool
	head     []byte

	prompt  state.SystemPrompt // what opening was made of
	opening []byte

	records []byte // each with a comma in front
	parts   []part
	turns   []*state.Turn // whose parts these are
	ends    []int         // number of parts up to the end of each
	ids     *IDs          // of all calls in records
}

// part is one record: a turn's *state.Message or a *state.Step.
type part struct {
	record any
	end    int // of its bytes in records
	ids    int // size of the id set behind it
}

var tail = []byte("]}")

var errNoInput = errors.New("no user input")

// New gives a Builder that has seen nothing.
func New(f Form) *Builder { return &Builder{form: f, ids: newIDs()} }

// IDs gives a set that knows the call ids of the body built last. It may be used until
// the next Build.
func (b *Builder) IDs() *IDs { return b.ids.fork() }

// Build gives the body for a conversation, in segments. It is valid until the next call. A
// conversation without a record and without a prompt is llm.ErrEmptyRequest.
func (b *Builder) Build(settings state.Object, st *state.State) ([][]byte, error) {
	if err := b.buildHead(settings, st.Tools); err != nil {
		return nil, err
	}
	if err := b.buildOpening(st.SystemPrompt); err != nil {
		return nil, err
	}
	if err := b.buildRecords(st.Turns); err != nil {
		return nil, err
	}
	records := b.records
	if len(records) > 0 && bytes.HasSuffix(b.opening, []byte{'['}) {
		records = records[1:]
	}
	if len(records) == 0 && bytes.Equal(b.opening, b.form.Prompt("")) {
		return nil, llm.ErrEmptyRequest
	}
	return [][]byte{b.head, b.opening, records, tail}, nil
}

func (b *Builder) buildHead(settings state.Object, tools []state.Tool) error {
	if b.head != nil && settings == b.settings && sameSlice(tools, b.tools) {
		return nil
	}
	head, anew, err := b.form.Head(settings, tools)
	if anew {
		b.turns, b.ends = nil, nil
		b.cut(0)
	}
	if err != nil {
		b.head = nil
		return err
	}
	b.head, b.settings, b.tools = head, settings, tools
	return nil
}

func (b *Builder) buildOpening(p state.SystemPrompt) error {
	if b.opening != nil && b.prompt.HeadingLevel == p.HeadingLevel && sameSlice(p.Sections, b.prompt.Sections) {
		return nil
	}
	text := ""
	if len(p.Sections) > 0 {
		var err error
		if text, err = p.Render(); err != nil {
			return err
		}
	}
	b.opening, b.prompt = b.form.Prompt(text), p
	return nil
}

// buildRecords writes what has changed. A turn that is the same record has the same
// parts, so long histories cost a comparison per turn.
func (b *Builder) buildRecords(turns []*state.Turn) error {
	same := common(turns, b.turns)
	b.turns, b.ends = b.turns[:same], b.ends[:same]
	part := 0
	if same > 0 {
		part = b.ends[same-1]
	}
	for t, turn := range turns[same:] {
		var err error
		past := same+t+1 < len(turns)
		if part, err = b.buildTurn(part, turn, past); err != nil {
			return fmt.Errorf("turn %d: %w", same+t, err)
		}
		b.turns, b.ends = append(b.turns, turn), append(b.ends, part)
	}
	if part < len(b.parts) {
		b.cut(part)
	}
	return nil
}

// buildTurn writes a turn's records from part i on and gives the part behind them. past
// tells that other turns follow.
func (b *Builder) buildTurn(i int, turn *state.Turn, past bool) (int, error) {
	if turn == nil || turn.UserInput == nil {
		return i, errNoInput
	}
	if !b.keeps(i, turn.UserInput) {
		out, err := b.form.User(b.cut(i), turn.UserInput)
		if errors.Is(err, llm.ErrUnsupportedPart) && (past || len(turn.Steps) > 0) {
			out, err = b.form.User(b.cut(i), readable(b.form, turn.UserInput))
		}
		if err != nil {
			return i, fmt.Errorf("user input: %w", err)
		}
		b.add(out, turn.UserInput)
	}
	i++
	for s, step := range turn.Steps {
		if !b.keeps(i, step) {
			out, err := b.form.Step(b.cut(i), step, b.ids)
			if err != nil {
				b.cut(i) // ids that the failed step has taken
				return i, fmt.Errorf("step %d: %w", s, err)
			}
			b.add(out, step)
		}
		i++
	}
	return i, nil
}

// keeps tells whether part i is still that record.
func (b *Builder) keeps(i int, record any) bool {
	return i < len(b.parts) && b.parts[i].record == record
}

func (b *Builder) add(records []byte, record any) {
	b.records = records
	b.parts = append(b.parts, part{record, len(records), b.ids.len()})
}

// cut forgets the parts from n on and everything else that belongs to no part.
func (b *Builder) cut(n int) []byte {
	if n < len(b.parts) {
		clear(b.parts[n:])
		b.parts = b.parts[:n]
	}
	end, ids := 0, 0
	if n := len(b.parts); n > 0 {
		end, ids = b.parts[n-1].end, b.parts[n-1].ids
	}
	b.records = b.records[:end]
	b.ids.truncate(ids)
	return b.records
}
