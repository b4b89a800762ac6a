package table_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
	"simplex/persistence/storetest"
	"simplex/state"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustDial(t *testing.T, path string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Dial(path, sqlite.ReadWrite)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func stamp(revision int64) table.Stamp {
	return table.Stamp{Revision: revision, Operation: "op", Boundary: persistence.StepFinished, Mark: table.MarkOpen}
}

// published is a database that holds st as its first save, and what it is known to hold.
func published(t *testing.T, st *state.State) (*sqlite.Conn, *table.Base) {
	t.Helper()
	b := new(table.Base)
	image, err := b.Image(st, table.Stamp{Revision: 1, Operation: "first", Boundary: persistence.StepFinished})
	must(t, err)
	b.Remember(st)
	path := filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(path, image, 0o600))
	return mustDial(t, path), b
}

// loaded reads the session in one transaction.
func loaded(t *testing.T, c *sqlite.Conn, b *table.Base) *table.Head {
	t.Helper()
	must(t, c.Run(sqlite.BeginRead))
	defer func() { must(t, c.Run(sqlite.Rollback)) }()
	h, err := table.ReadHead(c)
	must(t, err)
	must(t, b.Load(c, h))
	return h
}

// A state goes into a new database, a save changes it, another owner reads it and goes on.
func TestStateThroughTheTables(t *testing.T) {
	t.Parallel()
	st := storetest.Session(3)
	c, b := published(t, st)
	if now, err := table.ReadStanding(c); err != nil || now != (table.Standing{Revision: 1, Mark: table.MarkClosed, Known: true}) {
		t.Errorf("%+v, %v", now, err)
	}
	if id, err := table.SessionID(c); err != nil || id != storetest.SessionID {
		t.Errorf("%q, %v", id, err)
	}
	st = st.Clone()
	storetest.AddTurn(st, "one more")
	must(t, b.Save(c, nil, st, stamp(2), false))
	b.Remember(st)

	next := new(table.Base)
	h := loaded(t, c, next)
	if storetest.Text(t, h.State) != storetest.Text(t, st) || h.Revision != 2 || h.Operation != "op" || h.Mark != table.MarkOpen {
		t.Errorf("%+v", h)
	}
	st = h.State.Clone()
	st.Turns = st.Turns[1:]
	must(t, next.Save(c, nil, st, stamp(3), false))
	if got := loaded(t, c, new(table.Base)); storetest.Text(t, got.State) != storetest.Text(t, st) {
		t.Errorf("after a turn was dropped there is\n%s", storetest.Text(t, got.State))
	}
	// One that knows nothing of the tables writes everything anew.
	st = storetest.Session(1)
	must(t, new(table.Base).Save(c, nil, st, stamp(4), true))
	if got := loaded(t, c, new(table.Base)); storetest.Text(t, got.State) != storetest.Text(t, st) {
		t.Errorf("written anew there is\n%s", storetest.Text(t, got.State))
	}
}

// A save writes rows of new records only: its statements do not grow with the history.
func TestSaveFollowsTheStep(t *testing.T) {
	t.Parallel()
	statements := func(turns int) int {
		st := storetest.Session(turns)
		c, b := published(t, st)
		st = st.Clone()
		storetest.AddTurn(st, "one more")
		n := 0
		must(t, b.Save(c, func(string, durable.Op) error { n++; return nil }, st, stamp(2), false))
		return n
	}
	if few, many := statements(1), statements(50); few != many {
		t.Errorf("%d labelled calls after one turn, %d after 50", few, many)
	}
}

// A save that fails at any label leaves the one before; after the commit it is unsure.
func TestSaveThatFails(t *testing.T) {
	t.Parallel()
	old := storetest.Session(2)
	for _, label := range []string{table.LabelBegin, table.LabelStatement, table.LabelCommit, table.LabelCommitted} {
		c, b := published(t, old)
		st := old.Clone()
		storetest.AddTurn(st, "one more")
		err := b.Save(c, func(at string, op durable.Op) error {
			if at == label && op.Call == table.CallSQL {
				return syscall.EIO
			}
			return nil
		}, st, stamp(2), false)
		_, unsure := errors.AsType[*table.UnsureError](err)
		want := old
		if label == table.LabelCommitted {
			want = st
		}
		if !errors.Is(err, syscall.EIO) || unsure != (label == table.LabelCommitted) {
			t.Errorf("%s: %v, unsure: %v", label, err, unsure)
		}
		if got := loaded(t, c, new(table.Base)); storetest.Text(t, got.State) != storetest.Text(t, want) {
			t.Errorf("%s: there is\n%s", label, storetest.Text(t, got.State))
		}
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	st := storetest.Session(1)
	c, b := published(t, st)
	st = st.Clone()
	storetest.AddTurn(st, "\xff")
	if err := b.Save(c, nil, st, stamp(2), false); !errors.Is(err, table.ErrInvalidText) {
		t.Errorf("%v", err)
	}
}
