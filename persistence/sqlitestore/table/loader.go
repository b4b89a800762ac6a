package table

import (
	"io"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/state"
)

// loader reads a session in one pass: the records of every kind in the order of the
// document, merged by message id. It holds one turn at a time.
type loader struct {
	c        *sqlite.Conn
	turns    *sqlite.Cursor
	steps    *sqlite.Cursor
	messages *sqlite.Cursor
	contents *sqlite.Cursor
	calls    *sqlite.Cursor
	results  *sqlite.Cursor

	seenTurns, seenMessages int64
}

// Head is everything of a session but its turns.
type Head struct {
	State     *state.State // without turns
	Revision  int64
	Operation string
	Mark      Mark

	turns, messages int64 // how many there must be
}

// ReadHead reads within a transaction that the caller has begun. io.EOF: no session.
func ReadHead(c *sqlite.Conn) (*Head, error) {
	k := c.Rows(sqlGetSession, 16)
	defer k.Close()
	if !k.OK() {
		if k.Err() == nil {
			return nil, io.EOF
		}
		return nil, k.Err()
	}
	h := &Head{Revision: k.Num(0), Operation: k.Text(1), Mark: Mark(k.Num(2)), turns: k.Num(3), messages: k.Num(4)}
	h.State = &state.State{
		Meta: state.Meta{
			SchemaVersion: uint32(k.Num(5)), SessionID: k.Text(6), CreatedAt: k.Text(7), UpdatedAt: k.Text(8),
			Status: word(k, 9, state.SessionActive, state.SessionCompleted, state.SessionFailed),
			Error:  object(k, 10), Unknown: object(k, 11),
		},
		SystemPrompt: state.SystemPrompt{HeadingLevel: int(k.Num(12)), Unknown: object(k, 13)},
		Tools:        []state.Tool{}, Turns: []*state.Turn{},
		Extras: object(k, 14), Unknown: object(k, 15),
	}
	if k.Err() != nil {
		return nil, k.Err()
	}
	for _, read := range []func(*sqlite.Conn, *state.State) error{readSections, readTools, readLoop} {
		if err := read(c, h.State); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func readSections(c *sqlite.Conn, st *state.State) error {
	k := c.Rows(sqlGetSections, 5)
	defer k.Close()
	for ; k.OK(); k.Advance() {
		s := state.Section{
			Name: k.Text(0), Title: k.Text(1), Text: k.Text(3), Unknown: object(k, 4),
			Stability: word(k, 2, state.Immutable, state.Growing, state.Volatile),
		}
		if err := st.SystemPrompt.Add(s); err != nil {
			k.Fail(sqlite.Corrupt(c.Path(), err))
		}
	}
	return k.Err()
}

func readTools(c *sqlite.Conn, st *state.State) error {
	k := c.Rows(sqlGetTools, 6)
	defer k.Close()
	for ; k.OK(); k.Advance() {
		t := state.Tool{Name: k.Text(0), Description: k.Text(1), ArgumentSchema: object(k, 2), Extras: object(k, 4), Unknown: object(k, 5)}
		if !k.Null(3) {
			remote := k.Text(3)
			t.RemoteType = &remote
		}
		st.Tools = append(st.Tools, t)
	}
	return k.Err()
}

func readLoop(c *sqlite.Conn, st *state.State) error {
	k := c.Rows(sqlGetLoop, 6)
	defer k.Close()
	if k.OK() {
		st.Loop = &state.LoopProgress{
			Status: strict(k, 0, state.StatusIdle, state.StatusRunning, state.StatusCompleted, state.StatusCancelled,
				state.StatusExchangeLimit, state.StatusFailed, state.StatusAutoCompactRequired),
			Phase:              strict(k, 1, state.PhaseReady, state.PhaseModel, state.PhaseTools, state.PhaseProjection, state.PhaseBlocked),
			CompletedExchanges: uint64(k.Num(2)), CommittedSequence: uint64(k.Num(3)),
			Error: k.Text(4), Unknown: object(k, 5), Pending: []state.Result{},
		}
	}
	pending := c.Rows(sqlGetPending, 16)
	defer pending.Close()
	for ; pending.OK(); pending.Advance() {
		if st.Loop == nil {
			pending.Wrong("pending results without a loop")
			break
		}
		st.Loop.Pending = append(st.Loop.Pending, result(pending, 2))
	}
	k.Fail(pending.Err())
	return k.Err()
}

// Load reads the turns into h's State and makes it the base, within the transaction in
// which h was read. After an error the base is what it was.
func (b *Base) Load(c *sqlite.Conn, h *Head) error {
	next := Base{messages: h.messages}
	err := EachTurn(c, h, func(id int64, t *state.Turn) error {
		h.State.Turns = append(h.State.Turns, t)
		next.ids = append(next.ids, id)
		return nil
	})
	if err != nil {
		return err
	}
	next.Remember(h.State)
	*b = next
	return nil
}

// EachTurn hands over the turns in order and checks that nothing is missing or left over.
// It reads within the transaction in which h was read, and ends at yield's first error.
func EachTurn(c *sqlite.Conn, h *Head, yield func(id int64, t *state.Turn) error) error {
	l := &loader{
		c: c, turns: c.Rows(sqlGetTurns, 4), steps: c.Rows(sqlGetSteps, 7), messages: c.Rows(sqlGetMessages, 14),
		contents: c.Rows(sqlGetContents, 8), calls: c.Rows(sqlGetCalls, 8), results: c.Rows(sqlGetResults, 15),
	}
	defer l.close()
	for l.turns.OK() && l.err() == nil {
		id := l.turns.Num(0)
		t := l.turn(id)
		if err := l.err(); err != nil {
			return err
		}
		if err := yield(id, t); err != nil {
			return err
		}
		l.turns.Advance()
	}
	if err := l.err(); err != nil {
		return err
	}
	for _, k := range l.cursors() {
		if k.OK() {
			k.Wrong("there is a row that belongs to nothing")
			return k.Err()
		}
	}
	if l.seenTurns != h.turns || l.seenMessages != h.messages {
		l.turns.Wrong("%d turns and %d messages of %d and %d", l.seenTurns, l.seenMessages, h.turns, h.messages)
	}
	return l.turns.Err()
}

func (l *loader) cursors() []*sqlite.Cursor {
	return []*sqlite.Cursor{l.turns, l.steps, l.messages, l.contents, l.calls, l.results}
}

func (l *loader) err() error {
	for _, k := range l.cursors() {
		if k.Err() != nil {
			return k.Err()
		}
	}
	return nil
}

func (l *loader) close() {
	for _, k := range l.cursors() {
		k.Close()
	}
}
