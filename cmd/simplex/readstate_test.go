package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"simplex/manager"
	"simplex/manager/protocol"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/state"
)

// These tests have the process to themselves, as `simplex manage` has: a state of another
// session that is open at the same time would be taken for one to which the path was bent.

// databaseAt makes the state of a session with one input.
func databaseAt(t *testing.T, root, session, input string) {
	t.Helper()
	st := state.New(session, time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", input)})
	store, err := sqlitestore.Open(sqlitestore.Config{Root: root, SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Save(t.Context(), st, persistence.Shutdown), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// sqliteAllocation prepares one and gives its directory and a read of its state.
func sqliteAllocation(t *testing.T) (dir string, read func() (string, *protocol.Error)) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a")
	m := manager.New(manager.Config{SQLite: sqliteReader{}})
	request := func(op protocol.Operation) *protocol.Request {
		return &protocol.Request{RequestID: "r", Operation: op, AllocationID: "a", Directory: dir}
	}
	prepare := request(protocol.Prepare)
	prepare.Configuration = new("persistence: { format: sqlite }\n")
	if _, failure := m.Handle(t.Context(), prepare); failure != nil {
		t.Fatal(failure)
	}
	return dir, func() (string, *protocol.Error) {
		result, failure := m.Handle(t.Context(), request(protocol.ReadState))
		if failure != nil {
			return "", failure
		}
		defer result.Close()
		var out bytes.Buffer
		if err := result.Write(&out); err != nil {
			t.Error(err)
		}
		return out.String(), nil
	}
}

// SQLite opens a database by its path. Whoever bends the path meanwhile gets no other
// session's state shown as this one's.
func TestReadStateOfABentPath(t *testing.T) {
	dir, read := sqliteAllocation(t)
	databaseAt(t, dir, "own", "mine")
	elsewhere := t.TempDir()
	databaseAt(t, elsewhere, "other", "FOREIGN")
	own, link := filepath.Join(dir, "state"), filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(elsewhere, "state"), link); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, own, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	answers := 0
	for range 300 {
		text, failure := read()
		switch {
		case strings.Contains(text, "FOREIGN"):
			t.Fatalf("another session's state: %s", text)
		case failure == nil:
			answers++
		case failure.Code == protocol.IOError && strings.Contains(failure.Message, "unable to open"): // SQLite found half a path
		case failure.Code != protocol.UnsafePath && failure.Code != protocol.Busy:
			t.Errorf("%v", failure)
		}
	}
	close(stop)
	<-stopped
	t.Logf("%d answers", answers)
}

// A log without its database is a lost state and not none.
func TestReadStateOfALostDatabase(t *testing.T) {
	dir, read := sqliteAllocation(t)
	if text, failure := read(); failure != nil || !strings.Contains(text, `"state":null`) {
		t.Fatalf("%s, %v", text, failure)
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if text, failure := read(); failure != nil || !strings.Contains(text, `"state":null`) {
		t.Fatalf("%s, %v", text, failure)
	}
	if err := os.WriteFile(filepath.Join(dir, "state/state.db-wal"), make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failure := read(); failure == nil || failure.Code != protocol.StateCorrupt {
		t.Errorf("%s, %v", text, failure)
	}
}

// What belongs to the database is a regular file or not followed.
func TestReadStateOfALinkedLog(t *testing.T) {
	dir, read := sqliteAllocation(t)
	databaseAt(t, dir, "own", "mine")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "state/state.db-wal")); err != nil {
		t.Fatal(err)
	}
	if text, failure := read(); failure == nil || failure.Code != protocol.UnsafePath {
		t.Errorf("%s, %v", text, failure)
	}
}

// Neither a missing nor a full temporary directory stands in the way.
func TestReadStateWithoutATemporaryDirectory(t *testing.T) {
	dir, read := sqliteAllocation(t)
	databaseAt(t, dir, "own", strings.Repeat("long ", 1<<18))
	t.Setenv("TMPDIR", "/nonexistent")
	if text, failure := read(); failure != nil || !strings.Contains(text, "long long") {
		t.Errorf("%.100s, %v", text, failure)
	}
	full := t.TempDir()
	if err := unix.Mount("tmpfs", full, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(full, unix.MNT_DETACH) })
	t.Setenv("TMPDIR", full)
	if text, failure := read(); failure != nil || !strings.Contains(text, "long long") {
		t.Errorf("%.100s, %v", text, failure)
	}
}

// A database that another program keeps locked is busy, and told so soon.
func TestReadStateOfALockedDatabase(t *testing.T) {
	dir, read := sqliteAllocation(t)
	databaseAt(t, dir, "own", "mine")
	release := holdDatabase(t, filepath.Join(dir, "state/state.db"))
	began := time.Now()
	text, failure := read()
	if failure == nil || failure.Code != protocol.Busy || failure.Published != nil && *failure.Published {
		t.Errorf("%s, %v", text, failure)
	}
	if took := time.Since(began); took > 4*time.Second { // far below what a writer waits
		t.Errorf("told after %v", took)
	}
	release()
	if text, failure := read(); failure != nil || !strings.Contains(text, "mine") {
		t.Errorf("%s, %v", text, failure)
	}
}

// holdDatabase locks a database as a program in exclusive mode does.
func holdDatabase(t *testing.T, path string) (release func()) {
	t.Helper()
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + path + "?mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	c := conn.(*sqlite3.SQLiteConn)
	for _, sql := range []string{
		"SELECT count(*) FROM session", "PRAGMA locking_mode = EXCLUSIVE", "UPDATE session SET open = open", "SELECT count(*) FROM session",
	} {
		if _, err := c.Exec(sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
