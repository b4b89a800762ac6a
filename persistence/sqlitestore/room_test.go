package sqlitestore_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"simplex/persistence"
	"simplex/persistence/storetest"
)

// Most saves find room in the log, and what a killed owner left of it is no part of the
// session.
func TestSavesFindRoomInTheLog(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store := mustOpen(t, config(root))
	st := storetest.Session(0)
	mustSave(t, store, st, persistence.RunFinished)
	saves, grown := 0, 0
	last := int64(0)
	for range 20 {
		must(t, toolTurn(st, func(b persistence.Boundary) error {
			err := store.Save(t.Context(), st, b)
			now := size(t, statePath(root)+"-wal")
			saves++
			if now != last {
				grown++
			}
			last = now
			return err
		}, turnSize/4))
	}
	t.Logf("the log grew at %d of %d saves", grown, saves)
	if grown == 0 || grown*4 > saves {
		t.Errorf("the log grew at %d of %d saves", grown, saves)
	}
	left := t.TempDir()
	must(t, os.Mkdir(left+"/state", 0o700))
	for _, suffix := range []string{"", "-wal"} {
		copyFile(t, statePath(root)+suffix, statePath(left)+suffix)
	}
	log, err := os.ReadFile(statePath(left) + "-wal")
	must(t, err)
	if !bytes.HasSuffix(log, make([]byte, 1024)) {
		t.Error("there is no room at the end of the log")
	}
	if got := storetest.Text(t, mustLoad(t, left)); got != storetest.Text(t, st) {
		t.Error("another session is loaded from a log with room")
	}
	must(t, store.Close())
	mustBe(t, names(t, root), "state.db")
}

// Room is a convenience: where it cannot be made, saves go on, and nothing else is written to.
func TestSavesGoOnWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(t *testing.T, log string){
		"no log":      remove,
		"a link":      func(t *testing.T, log string) { remove(t, log); must(t, os.Symlink("../precious", log)) },
		"a pipe":      func(t *testing.T, log string) { remove(t, log); must(t, syscall.Mkfifo(log, 0o600)) },
		"a directory": func(t *testing.T, log string) { remove(t, log); must(t, os.Mkdir(log, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			precious := root + "/precious"
			must(t, os.WriteFile(precious, []byte("keep me"), 0o600))
			store := mustOpen(t, config(root))
			st := storetest.Session(1)
			mustSave(t, store, st, persistence.RunFinished)
			mustSave(t, store, st, persistence.RunFinished)
			hide(t, statePath(root)+"-wal")
			for range 5 {
				must(t, toolTurn(st, func(b persistence.Boundary) error { return store.Save(t.Context(), st, b) }, turnSize))
			}
			_ = store.Close()
			if raw, err := os.ReadFile(precious); err != nil || string(raw) != "keep me" {
				t.Errorf("what the link led to is %q, %v", raw, err)
			}
		})
	}
}
