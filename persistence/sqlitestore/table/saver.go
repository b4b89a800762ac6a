package table

import (
	"database/sql/driver"
	"errors"
	"slices"
	"unicode/utf8"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/state"
)

// ErrInvalidText stops a save; state.Encode then says where the text stands.
var ErrInvalidText = errors.New("text is not valid UTF-8")

// The labels of a save, asked of its hook before the statement is run. The Op's Name is the
// statement.
const (
	LabelBegin     = "sqlite.begin"
	LabelStatement = "sqlite.statement"
	LabelCommit    = "sqlite.commit"
	LabelCommitted = "sqlite.committed" // the commit succeeded, nobody has been told
)

// CallSQL is the Op's Call at these labels.
const CallSQL durable.Call = "sql"

// Stamp is what a save says of itself.
type Stamp struct {
	Revision  int64
	Operation string
	Boundary  persistence.Boundary
	Mark      Mark
}

// UnsureError is a commit that failed after the log was written: a later recovery may find
// the save there.
type UnsureError struct{ err error }

func (e *UnsureError) Error() string { return e.err.Error() }
func (e *UnsureError) Unwrap() error { return e.err }

// Save brings the tables from the base to st in one transaction. fresh means that they hold
// nothing that the base knows; then everything is written anew. Afterwards st is saved, and
// Remember follows. After an error the base is of no use but for Load or Image. The error
// is an *UnsureError where st may be saved, and wraps ErrInvalidText where st cannot be.
func (b *Base) Save(c *sqlite.Conn, hook durable.Hook, st *state.State, s Stamp, fresh bool) error {
	w := &saver{c: c, hook: hook}
	w.step(LabelBegin, sqlite.Begin)
	if w.err != nil {
		return w.err
	}
	from := b
	if fresh {
		from = &Base{}
	}
	w.write(from, st, s, fresh)
	if w.ask(LabelCommit, sqlite.Commit); w.err != nil {
		_ = c.Run(sqlite.Rollback)
		return w.err
	}
	if err := c.Run(sqlite.Commit); err != nil {
		_ = c.Run(sqlite.Rollback)
		return &UnsureError{err}
	}
	if fresh {
		*b = *from
	}
	b.messages = w.messages
	if w.ask(LabelCommitted, ""); w.err != nil {
		return &UnsureError{w.err}
	}
	return nil
}

// saver writes one state within a transaction. The first error sticks.
type saver struct {
	c        *sqlite.Conn
	hook     durable.Hook
	messages int64
	err      error
}

func (w *saver) ask(label, sql string) {
	if w.hook != nil && w.err == nil {
		w.err = w.hook(label, durable.Op{Call: CallSQL, Name: sql})
	}
}

func (w *saver) run(sql string, args ...driver.Value) {
	w.ask(LabelStatement, sql)
	if w.err == nil {
		w.err = w.c.Run(sql, args...)
	}
}

func (w *saver) step(label, sql string) {
	w.ask(label, sql)
	if w.err == nil {
		w.err = w.c.Run(sql)
	}
}

func (w *saver) str(s string) driver.Value {
	if w.err == nil && !utf8.ValidString(s) {
		w.err = ErrInvalidText
	}
	return s
}

func text[E ~string](w *saver, e, fallback E) driver.Value {
	if e == "" {
		e = fallback
	}
	return w.str(string(e))
}

// write brings the tables from b to st; fresh means that they hold nothing that b knows.
func (w *saver) write(b *Base, st *state.State, s Stamp, fresh bool) {
	w.messages = b.messages
	if fresh {
		w.run(sqlDropTurns, int64(0), int64(1<<62))
		w.run(sqlDropLoop)
	}
	w.turns(b, st.Turns)
	w.session(st, s, fresh)
	w.loop(b.st.Loop, st.Loop, fresh)
	if was, now := b.st.SystemPrompt.Sections, st.SystemPrompt.Sections; fresh || !sameSlice(was, now) && !slices.Equal(was, now) {
		w.sections(now)
	}
	if was, now := b.st.Tools, st.Tools; fresh || !sameSlice(was, now) && !slices.Equal(was, now) {
		w.tools(now)
	}
}

func (w *saver) session(st *state.State, s Stamp, fresh bool) {
	m := &st.Meta
	sql := sqlUpdate
	if fresh {
		sql = sqlSession
	}
	w.run(sql, s.Revision, s.Operation, string(s.Boundary), int64(s.Mark), int64(len(st.Turns)), w.messages,
		int64(m.SchemaVersion), w.str(m.SessionID), w.str(m.CreatedAt), w.str(m.UpdatedAt),
		text(w, m.Status, state.SessionActive), opt(m.Error), opt(m.Unknown),
		int64(st.SystemPrompt.HeadingLevel), opt(st.SystemPrompt.Unknown), opt(st.Extras), opt(st.Unknown))
}

func (w *saver) sections(sections []state.Section) {
	w.run(sqlDropSections)
	for i := range sections {
		s := &sections[i]
		w.run(sqlSection, int64(i), w.str(s.Name), w.str(s.Title), text(w, s.Stability, state.Immutable), w.str(s.Text), opt(s.Unknown))
	}
}

func (w *saver) tools(tools []state.Tool) {
	w.run(sqlDropTools)
	for i := range tools {
		t := &tools[i]
		var remote driver.Value
		if t.RemoteType != nil {
			remote = w.str(*t.RemoteType)
		}
		w.run(sqlTool, int64(i), w.str(t.Name), w.str(t.Description), always(t.ArgumentSchema.Value), remote, opt(t.Extras), opt(t.Unknown))
	}
}

func (w *saver) loop(was, now *state.LoopProgress, fresh bool) {
	none := &state.LoopProgress{}
	if now == nil {
		if was != nil {
			w.run(sqlDropLoop)
		}
		now = none
	} else if fresh || was == nil || !sameProgress(was, now) {
		w.run(sqlLoop, text(w, now.Status, state.StatusIdle), text(w, now.Phase, state.PhaseReady),
			int64(now.CompletedExchanges), int64(now.CommittedSequence), w.str(now.Error), opt(now.Unknown))
	}
	if was == nil {
		was = none
	}
	if !fresh && slices.Equal(was.Pending, now.Pending) {
		return
	}
	if fresh || len(was.Pending) > 0 {
		w.run(sqlDropPending)
	}
	for i := range now.Pending {
		w.result(sqlPending, int64(i), &now.Pending[i])
	}
}

func sameProgress(a, b *state.LoopProgress) bool {
	return a.Status == b.Status && a.Phase == b.Phase && a.CompletedExchanges == b.CompletedExchanges &&
		a.CommittedSequence == b.CommittedSequence && a.Error == b.Error && a.Unknown == b.Unknown
}
