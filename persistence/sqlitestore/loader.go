package sqlitestore

import (
	"io"

	"simplex/state"
)

// loader reads a session in one pass: the records of every kind in the order of the
// document, merged by message id. It holds one turn at a time.
type loader struct {
	c        *conn
	turns    *cursor
	steps    *cursor
	messages *cursor
	contents *cursor
	calls    *cursor
	results  *cursor

	seenTurns, seenMessages int64
}

// head is everything of a session but its turns.
type head struct {
	st              *state.State
	revision        int64
	operation       string
	open            int64
	turns, messages int64 // how many there must be
}

// readHead reads within a transaction that the caller has begun. io.EOF: no session.
func readHead(c *conn) (*head, error) {
	k := c.rows(sqlGetSession, 16)
	defer k.close()
	if !k.ok {
		if k.err == nil {
			return nil, io.EOF
		}
		return nil, k.err
	}
	h := &head{revision: k.num(0), operation: k.text(1), open: k.num(2), turns: k.num(3), messages: k.num(4)}
	h.st = &state.State{
		Meta: state.Meta{
			SchemaVersion: uint32(k.num(5)), SessionID: k.text(6), CreatedAt: k.text(7), UpdatedAt: k.text(8),
			Status: word(k, 9, state.SessionActive, state.SessionCompleted, state.SessionFailed),
			Error:  k.object(10), Unknown: k.object(11),
		},
		SystemPrompt: state.SystemPrompt{HeadingLevel: int(k.num(12)), Unknown: k.object(13)},
		Tools:        []state.Tool{}, Turns: []*state.Turn{},
		Extras: k.object(14), Unknown: k.object(15),
	}
	if k.err != nil {
		return nil, k.err
	}
	for _, read := range []func(*conn, *state.State) error{readSections, readTools, readLoop} {
		if err := read(c, h.st); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func readSections(c *conn, st *state.State) error {
	k := c.rows(sqlGetSections, 5)
	defer k.close()
	for ; k.ok; k.advance() {
		s := state.Section{
			Name: k.text(0), Title: k.text(1), Text: k.text(3), Unknown: k.object(4),
			Stability: word(k, 2, state.Immutable, state.Growing, state.Volatile),
		}
		if err := st.SystemPrompt.Add(s); err != nil {
			k.fail(corrupt(c.path, err))
		}
	}
	return k.err
}

func readTools(c *conn, st *state.State) error {
	k := c.rows(sqlGetTools, 6)
	defer k.close()
	for ; k.ok; k.advance() {
		t := state.Tool{Name: k.text(0), Description: k.text(1), ArgumentSchema: k.object(2), Extras: k.object(4), Unknown: k.object(5)}
		if !k.null(3) {
			remote := k.text(3)
			t.RemoteType = &remote
		}
		st.Tools = append(st.Tools, t)
	}
	return k.err
}

func readLoop(c *conn, st *state.State) error {
	k := c.rows(sqlGetLoop, 6)
	defer k.close()
	if k.ok {
		st.Loop = &state.LoopProgress{
			Status: strict(k, 0, state.StatusIdle, state.StatusRunning, state.StatusCompleted, state.StatusCancelled,
				state.StatusExchangeLimit, state.StatusFailed, state.StatusAutoCompactRequired),
			Phase:              strict(k, 1, state.PhaseReady, state.PhaseModel, state.PhaseTools, state.PhaseProjection, state.PhaseBlocked),
			CompletedExchanges: uint64(k.num(2)), CommittedSequence: uint64(k.num(3)),
			Error: k.text(4), Unknown: k.object(5), Pending: []state.Result{},
		}
	}
	pending := c.rows(sqlGetPending, 16)
	defer pending.close()
	for ; pending.ok; pending.advance() {
		if st.Loop == nil {
			pending.wrong("pending results without a loop")
			break
		}
		st.Loop.Pending = append(st.Loop.Pending, result(pending, 2))
	}
	k.fail(pending.err)
	return k.err
}

// eachTurn hands over the turns in order and checks that nothing is missing or left over.
func eachTurn(c *conn, h *head, yield func(id int64, t *state.Turn) error) error {
	l := &loader{
		c: c, turns: c.rows(sqlGetTurns, 4), steps: c.rows(sqlGetSteps, 7), messages: c.rows(sqlGetMessages, 14),
		contents: c.rows(sqlGetContents, 8), calls: c.rows(sqlGetCalls, 8), results: c.rows(sqlGetResults, 15),
	}
	defer l.close()
	for l.turns.ok && l.err() == nil {
		id := l.turns.num(0)
		t := l.turn(id)
		if err := l.err(); err != nil {
			return err
		}
		if err := yield(id, t); err != nil {
			return err
		}
		l.turns.advance()
	}
	if err := l.err(); err != nil {
		return err
	}
	for _, k := range l.cursors() {
		if k.ok {
			k.wrong("there is a row that belongs to nothing")
			return k.err
		}
	}
	if l.seenTurns != h.turns || l.seenMessages != h.messages {
		l.turns.wrong("%d turns and %d messages of %d and %d", l.seenTurns, l.seenMessages, h.turns, h.messages)
	}
	return l.turns.err
}

func (l *loader) cursors() []*cursor {
	return []*cursor{l.turns, l.steps, l.messages, l.contents, l.calls, l.results}
}

func (l *loader) err() error {
	for _, k := range l.cursors() {
		if k.err != nil {
			return k.err
		}
	}
	return nil
}

func (l *loader) close() {
	for _, k := range l.cursors() {
		k.close()
	}
}
