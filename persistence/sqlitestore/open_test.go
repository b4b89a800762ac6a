package sqlitestore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
)

// sql runs statements on a database as any other program would, and closes it.
func sql(t *testing.T, path, text string) {
	t.Helper()
	c, err := (&sqlite3.SQLiteDriver{}).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.(*sqlite3.SQLiteConn).Exec(text, nil)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

// content is what every file of the state directory holds.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range names(t, root) {
		path := filepath.Join(root, "state", name)
		info, err := os.Lstat(path)
		must(t, err)
		if !info.Mode().IsRegular() {
			out[name] = info.Mode().String()
			continue
		}
		raw, err := os.ReadFile(path)
		must(t, err)
		out[name] = string(raw)
	}
	return out
}

// crashed leaves a session that its owner did not close: saves stand in the log.
func crashed(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	n := 0
	cmd := childCommand(t, "save", root, "40")
	for ; ; n++ {
		if err := cmd.Run(); killed(err) {
			break
		}
		if n > 20 {
			t.Fatal("the child does not die")
		}
		cmd = childCommand(t, "save", root, "40")
	}
	if size(t, statePath(root)+"-wal") == 0 {
		t.Fatal("the log is empty")
	}
	return root
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// is makes a check of errors.Is.
func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// corruptBy is a CorruptError with that cause.
func corruptBy(target error) func(error) bool {
	return func(err error) bool {
		_, ok := errors.AsType[*persistence.CorruptError](err)
		return ok && errors.Is(err, target)
	}
}

func isSchema(err error) bool {
	_, ok := errors.AsType[*sqlitestore.SchemaError](err)
	return ok
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*persistence.CorruptError](err)
	return ok
}

// Each of these is told apart, by Load, by Save without Load and by Read; and nothing in
// the directory is changed, made or removed by it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		crash bool // the damage is done to a session that was not closed
		do    func(t *testing.T, path string)
		want  func(error) bool
	}{
		"empty file":     {do: func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, want: isSchema},
		"later version":  {do: func(t *testing.T, path string) { sql(t, path, "PRAGMA user_version = 2") }, want: isSchema},
		"not ours":       {do: func(t *testing.T, path string) { sql(t, path, "PRAGMA application_id = 7") }, want: isSchema},
		"text file":      {do: func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte(strings.Repeat("x", 5000)), 0o600)) }, want: isCorrupt},
		"zero bytes":     {do: func(t *testing.T, path string) { must(t, os.WriteFile(path, make([]byte, 5000), 0o600)) }, want: isCorrupt},
		"cut":            {do: func(t *testing.T, path string) { must(t, os.Truncate(path, size(t, path)/2)) }, want: isCorrupt},
		"log is missing": {crash: true, do: func(t *testing.T, path string) { remove(t, path+"-wal") }, want: corruptBy(sqlitestore.ErrMissingLog)},
		"log is emptied": {crash: true, do: func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", 0)) }, want: corruptBy(sqlitestore.ErrMissingLog)},
		"only the log":   {crash: true, do: remove, want: corruptBy(sqlitestore.ErrMissingDatabase)},
		"link": {do: func(t *testing.T, path string) {
			must(t, os.Rename(path, path+"x"))
			must(t, os.Symlink(path+"x", path))
		}, want: corruptBy(durable.ErrNotRegular)},
		"directory":       {do: func(t *testing.T, path string) { remove(t, path); must(t, os.Mkdir(path, 0o700)) }, want: corruptBy(durable.ErrNotRegular)},
		"fifo":            {do: func(t *testing.T, path string) { remove(t, path); must(t, syscall.Mkfifo(path, 0o600)) }, want: corruptBy(durable.ErrNotRegular)},
		"log is a link":   {do: func(t *testing.T, path string) { must(t, os.Symlink(path, path+"-wal")) }, want: corruptBy(durable.ErrNotRegular)},
		"hot journal":     {do: func(t *testing.T, path string) { must(t, os.WriteFile(path+"-journal", []byte("x"), 0o600)) }, want: is(sqlitestore.ErrJournalMode)},
		"session is gone": {do: func(t *testing.T, path string) { sql(t, path, "DELETE FROM loop; DELETE FROM session") }, want: isCorrupt},
		"turn is gone": {do: func(t *testing.T, path string) {
			sql(t, path, "PRAGMA foreign_keys=on; DELETE FROM turn WHERE id = 64")
		}, want: isCorrupt},
		"message is gone": {do: func(t *testing.T, path string) { sql(t, path, "DELETE FROM message WHERE id = 65") }, want: isCorrupt},
		"orphan":          {do: func(t *testing.T, path string) { sql(t, path, "DELETE FROM turn WHERE id = 128") }, want: isCorrupt},
		"unknown phase":   {do: func(t *testing.T, path string) { sql(t, path, "UPDATE loop SET phase = 'asleep'") }, want: isCorrupt},
		"no UTF-8":        {do: func(t *testing.T, path string) { sql(t, path, "UPDATE content SET raw = CAST(x'ff' AS TEXT)") }, want: isCorrupt},
		"no JSON":         {do: func(t *testing.T, path string) { sql(t, path, "UPDATE call SET arguments = '{'") }, want: isCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := ""
			if tc.crash {
				root = crashed(t)
			} else {
				root = t.TempDir()
				mustSaveIn(t, root, storetest.Session(3))
			}
			must(t, os.WriteFile(filepath.Join(root, "state", "state.json"), []byte(storetest.Text(t, storetest.Session(1))), 0o600))
			tc.do(t, statePath(root))
			before := contents(t, root)
			for range 2 {
				if st, err := load(t, root); st != nil || !tc.want(err) {
					t.Errorf("load: %v, %v", st, err)
				} else if !strings.Contains(err.Error(), statePath(root)) {
					t.Errorf("the message does not name the file: %v", err)
				}
				if _, err := sqlitestore.Read(t.Context(), statePath(root), &bytes.Buffer{}); !tc.want(err) {
					t.Errorf("read: %v", err)
				}
			}
			mustEqualFiles(t, contents(t, root), before)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustEqualFiles ignores the shared memory, which holds no data.
func mustEqualFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] && !strings.HasSuffix(name, "-shm") {
			t.Errorf("%s was changed: %d bytes, before %d", name, len(got[name]), len(want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s was made", name)
		}
	}
}

func TestRollbackJournalModeIsRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	sql(t, statePath(root), "PRAGMA journal_mode = DELETE")
	if _, err := load(t, root); !errors.Is(err, sqlitestore.ErrJournalMode) {
		t.Errorf("load: %v", err)
	}
	if _, err := sqlitestore.Read(t.Context(), statePath(root), &bytes.Buffer{}); !errors.Is(err, sqlitestore.ErrJournalMode) {
		t.Errorf("read: %v", err)
	}
}

func TestForeignSessionKeepsItsLog(t *testing.T) {
	t.Parallel()
	root := crashed(t)
	before := contents(t, root)
	cfg := config(root)
	cfg.SessionID = "other"
	store := mustOpen(t, cfg)
	_, err := store.Load(t.Context())
	if _, ok := errors.AsType[*persistence.ForeignSessionError](err); !ok {
		t.Errorf("%v", err)
	}
	must(t, store.Close())
	mustEqualFiles(t, contents(t, root), before)
}

// A session of the other format is not taken for none.
func TestOnlyTheOtherFormatIsThere(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store := mustOpen(t, config(root))
	must(t, os.WriteFile(filepath.Join(root, "state", "state.json"), []byte("{}"), 0o600))
	st, err := store.Load(t.Context())
	other, ok := errors.AsType[*persistence.OtherFormatError](err)
	if st != nil || !ok || other.Format != "json" || !strings.HasSuffix(other.Path, "state.json") {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := sqlitestore.Read(t.Context(), statePath(root), &bytes.Buffer{}); !errors.Is(err, sqlitestore.ErrNoState) {
		t.Errorf("read: %v", err)
	}
}

func TestStaleDocumentIsIgnored(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	want := storetest.Session(3)
	mustSaveIn(t, root, want)
	must(t, os.WriteFile(filepath.Join(root, "state", "state.json"), []byte("damaged"), 0o600))
	if storetest.Text(t, mustLoad(t, root)) != storetest.Text(t, want) {
		t.Error("another state")
	}
}

// BR-028, first case: a copy of the database is put back beside the log of the newer one.
func TestOlderCopyBesideANewerLog(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(3))
	old := filepath.Join(t.TempDir(), "old.db")
	copyFile(t, statePath(root), old)
	for killed(childCommand(t, "save", root, "45").Run()) && size(t, statePath(root)+"-wal") == 0 {
	}
	copyFile(t, old, statePath(root))
	before := contents(t, root)
	if st, err := load(t, root); !corruptBy(sqlitestore.ErrForeignLog)(err) {
		t.Errorf("%v, %v", st, err)
	}
	mustEqualFiles(t, contents(t, root), before)
}

// BR-028, second case, for every page: what is loaded after damage is an error or the
// right session, never another one.
func TestEveryPageDamaged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st := history(t, 12)
	mustSaveIn(t, root, st)
	want := storetest.Text(t, st)
	good, err := os.ReadFile(statePath(root))
	must(t, err)
	noise := bytes.Repeat([]byte{0xa7, 0x03, 0xfe, 0x91}, 1024)
	told, unread := 0, 0
	for at := 0; at < len(good); at += 4096 {
		bad := bytes.Clone(good)
		copy(bad[at:at+4096], noise)
		must(t, os.WriteFile(statePath(root), bad, 0o600))
		got, err := load(t, root)
		switch {
		case isCorrupt(err):
			told++
		case err != nil:
			t.Errorf("page %d: %v", at/4096, err)
		case storetest.Text(t, got) != want:
			t.Errorf("page %d: another session was loaded", at/4096)
		default:
			unread++
		}
	}
	t.Logf("%d pages: damage told %d times, in pages that a load does not need %d times", len(good)/4096, told, unread)
}

// A lock of another program: told as such after the wait, by Open's successors.
func TestLockedByAnotherProgram(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the busy timeout")
	}
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	c, err := (&sqlite3.SQLiteDriver{}).Open(statePath(root))
	must(t, err)
	defer c.Close()
	db := c.(*sqlite3.SQLiteConn)
	_, err = db.Exec("BEGIN IMMEDIATE", nil)
	must(t, err)
	if _, err := load(t, root); !errors.Is(err, sqlitestore.ErrBusy) {
		t.Errorf("load: %v", err)
	}
	if _, info := mustRead(t, statePath(root)); info.Revision != 2 {
		t.Errorf("a reader is kept out: %+v", info)
	}
	_, err = db.Exec("ROLLBACK", nil)
	must(t, err)
}
