package sqlitestore

import (
	"database/sql/driver"
	"errors"
	"slices"
	"unicode/utf8"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/state"
)

// errInvalidText stops a save; state.Encode then says where the text stands.
var errInvalidText = errors.New("text is not valid UTF-8")

// The labels of a save, asked of Config.Hook before the statement is run. The Op's Name
// is the statement.
const (
	LabelBegin      = "sqlite.begin"
	LabelStatement  = "sqlite.statement"
	LabelCommit     = "sqlite.commit"
	LabelCommitted  = "sqlite.committed" // the commit succeeded, nobody has been told
	LabelMark       = "sqlite.mark"      // the mark of an open session is set or taken away
	LabelCheckpoint = "sqlite.checkpoint"
)

// callSQL is the Op's Call at these labels.
const callSQL durable.Call = "sql"

// saver writes one state within a transaction. The first error sticks.
type saver struct {
	c        *conn
	hook     durable.Hook
	messages int64
	err      error
}

func (w *saver) ask(label, sql string) {
	if w.hook != nil && w.err == nil {
		w.err = w.hook(label, durable.Op{Call: callSQL, Name: sql})
	}
}

func (w *saver) run(sql string, args ...driver.Value) {
	w.ask(LabelStatement, sql)
	if w.err == nil {
		w.err = w.c.run(sql, args...)
	}
}

func (w *saver) step(label, sql string) {
	w.ask(label, sql)
	if w.err == nil {
		w.err = w.c.run(sql)
	}
}

func (w *saver) str(s string) driver.Value {
	if w.err == nil && !utf8.ValidString(s) {
		w.err = errInvalidText
	}
	return s
}

func text[E ~string](w *saver, e, fallback E) driver.Value {
	if e == "" {
		e = fallback
	}
	return w.str(string(e))
}

// stamp is what a save says of itself.
type stamp struct {
	revision  int64
	operation string
	boundary  persistence.Boundary
	open      int64
}

// write brings the tables from b to st; fresh means that they hold nothing that b knows.
func (w *saver) write(b *base, st *state.State, s stamp, fresh bool) {
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

func (w *saver) session(st *state.State, s stamp, fresh bool) {
	m := &st.Meta
	sql := sqlUpdate
	if fresh {
		sql = sqlSession
	}
	w.run(sql, s.revision, s.operation, string(s.boundary), s.open, int64(len(st.Turns)), w.messages,
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
