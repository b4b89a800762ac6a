package sqlite_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/persistence"
	"simplex/persistence/sqlitestore/sqlite"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustDial(t *testing.T, path string, how sqlite.Access) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Dial(path, how)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// made is the path of a database with one table: (1, 'one'), (2, NULL), (3, not UTF-8).
func made(t *testing.T) string {
	t.Helper()
	c := mustDial(t, "new", sqlite.InMemory)
	must(t, c.Script("CREATE TABLE t (n INTEGER, s TEXT); INSERT INTO t VALUES (1, 'one')"))
	must(t, c.Run("INSERT INTO t VALUES (?, ?)", int64(2), nil))
	must(t, c.Run("INSERT INTO t VALUES (?, CAST(x'ff' AS TEXT))", int64(3)))
	image, err := c.Serialize()
	must(t, err)
	path := filepath.Join(t.TempDir(), "t.db")
	must(t, os.WriteFile(path, image, 0o600))
	return path
}

func TestRows(t *testing.T) {
	t.Parallel()
	path := made(t)
	c := mustDial(t, path, sqlite.ReadOnly)
	k := c.Rows("SELECT n, s FROM t WHERE n < ? ORDER BY n", 2, int64(3))
	defer k.Close()
	if !k.OK() || k.Num(0) != 1 || k.Text(1) != "one" || k.Null(1) {
		t.Errorf("first row: %v, %v, %v", k.Raw(0), k.Raw(1), k.Err())
	}
	if k.Advance(); !k.OK() || k.Num(0) != 2 || !k.Null(1) {
		t.Errorf("second row: %v, %v, %v", k.Raw(0), k.Raw(1), k.Err())
	}
	if k.Advance(); k.OK() || k.Err() != nil {
		t.Errorf("after the last row: %v", k.Err())
	}
	if row, err := c.One("SELECT max(n), min(n) FROM t", 2); err != nil || row[0] != 3 || row[1] != 1 {
		t.Errorf("%v, %v", row, err)
	}
	if _, err := c.One("SELECT n FROM t WHERE n = 9", 1); !errors.Is(err, io.EOF) {
		t.Errorf("no row: %v", err)
	}
}

// The first thing that does not fit sticks, ends the rows and names the database.
func TestRowsThatDoNotFit(t *testing.T) {
	t.Parallel()
	path := made(t)
	c := mustDial(t, path, sqlite.ReadOnly)
	for name, read := range map[string]func(k *sqlite.Cursor){
		"no number": func(k *sqlite.Cursor) { k.Num(1) },
		"no text":   func(k *sqlite.Cursor) { k.Text(0) },
		"no UTF-8":  func(k *sqlite.Cursor) { k.Advance(); k.Advance(); k.Text(1) },
		"wrong":     func(k *sqlite.Cursor) { k.Wrong("%d is too few", k.Num(0)) },
	} {
		k := c.Rows("SELECT n, s FROM t ORDER BY n", 2)
		read(k)
		k.Fail(io.ErrUnexpectedEOF)
		k.Advance()
		bad, ok := errors.AsType[*persistence.CorruptError](k.Err())
		if !ok || bad.Path != path || !errors.Is(bad, sqlite.ErrShape) || k.OK() {
			t.Errorf("%s: %v, a row: %v", name, k.Err(), k.OK())
		}
		k.Close()
	}
}

// count opens a database, reads it and closes it.
func count(path string, how sqlite.Access) error {
	c, err := sqlite.Dial(path, how)
	if err != nil {
		return err
	}
	_, err = c.One("SELECT count(*) FROM t", 1)
	return errors.Join(err, c.Close())
}

// What SQLite says becomes the error by which a caller decides.
func TestFaults(t *testing.T) {
	t.Parallel()
	path := made(t)
	text := filepath.Join(t.TempDir(), "text.db")
	must(t, os.WriteFile(text, []byte(strings.Repeat("x", 5000)), 0o600))
	if bad, ok := errors.AsType[*persistence.CorruptError](count(text, sqlite.ReadOnly)); !ok || bad.Path != text {
		t.Errorf("a text file: %v", bad)
	}
	if err := mustDial(t, path, sqlite.ReadOnly).Run("DELETE FROM t"); !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("a write through a reader: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.db")
	if err := count(missing, sqlite.ReadWrite); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Lstat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	must(t, mustDial(t, path, sqlite.ReadWrite).Script("BEGIN EXCLUSIVE"))
	if err := count(path, sqlite.ReadOnly); !errors.Is(err, sqlite.ErrBusy) {
		t.Errorf("a locked database: %v", err)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	path := made(t)
	for _, keep := range []bool{false, true} {
		c := mustDial(t, path, sqlite.ReadWrite)
		must(t, c.Script("PRAGMA journal_mode = WAL"))
		must(t, c.KeepLog(keep))
		must(t, c.Run(sqlite.Begin))
		must(t, c.Run("INSERT INTO t VALUES (4, 'four')"))
		must(t, c.Run(sqlite.Commit))
		if done, err := c.Checkpoint("TRUNCATE"); !done || err != nil {
			t.Errorf("checkpoint: %v, %v", done, err)
		}
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
			t.Errorf("after a checkpoint: %v, %v", info, err)
		}
		must(t, c.Close())
		if _, err := os.Stat(path + "-wal"); keep != (err == nil) {
			t.Errorf("keep %v: the log after Close: %v", keep, err)
		}
	}
}
