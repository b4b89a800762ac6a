package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
)

// Each labelled call of an owner's life fails once and for ever: what is there is the
// last good save or the new one whole, the failure is final although the disk works
// again, and the next owner finds a good session.
func TestFaultAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, sticky := range []bool{false, true} {
		points := 0
		for at := 1; saveWithFault(t, at, sticky); at++ {
			points++
		}
		t.Logf("sticky %v: %d points", sticky, points)
	}
}

// saveWithFault tells whether a call of that number was reached.
func saveWithFault(t *testing.T, at int, sticky bool) bool {
	t.Helper()
	root := memoryDir(t)
	n, armed, failed := 0, false, ""
	cfg := config(root)
	cfg.Hook = func(label string, _ durable.Op) error {
		if !armed {
			return nil
		}
		if n++; n == at || sticky && n > at {
			if failed == "" {
				failed = label
			}
			return syscall.EIO
		}
		return nil
	}
	mustSaveIn(t, root, storetest.Session(2))
	store, err := sqlitestore.Open(cfg)
	must(t, err)
	st, err := store.Load(t.Context())
	must(t, err)
	docs := []string{storetest.Text(t, st)}
	armed = true
	var saveErr error
	acked := 0
	err = toolTurn(st, func(b persistence.Boundary) error {
		docs = append(docs, storetest.Text(t, st))
		if saveErr = store.Save(t.Context(), st.Clone(), b); saveErr == nil {
			acked++
		}
		return saveErr
	}, 100)
	armed = false
	if err == nil { // a checkpoint that fails is no failure of a save
		_ = store.Close()
		if got := storetest.Text(t, mustLoad(t, root)); got != docs[4] {
			t.Errorf("fault at %q: another state", failed)
		}
		return failed != ""
	}
	sf, ok := errors.AsType[*persistence.StorageFailedError](err)
	if !ok || !errors.Is(err, syscall.EIO) {
		t.Fatalf("fault at %s: %v", failed, err)
	}
	if err := store.Save(t.Context(), st, persistence.Shutdown); !errors.Is(err, persistence.ErrStorageFailed) {
		t.Errorf("fault at %s: the next save: %v", failed, err)
	}
	_ = store.Close()
	want := docs[acked]
	if sf.Published {
		want = docs[acked+1]
	}
	if got := storetest.Text(t, mustLoad(t, root)); got != want {
		t.Errorf("fault at %s, published %v: there is\n%s", failed, sf.Published, got)
	}
	return true
}

// BR-027: what cannot be written is refused at the start, by name, and can be read.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		dir, file os.FileMode
		want      string
	}{
		"directory": {0o555, 0o644, "open: denied true"},
		"file":      {0o777, 0o444, "load: read-only true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := os.MkdirTemp("", "sqlitestore-nobody-")
			must(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(root) })
			mustSaveIn(t, root, storetest.Session(1))
			must(t, os.Chmod(root, 0o777))
			must(t, os.Chmod(filepath.Join(root, "session.lock"), 0o666))
			must(t, os.Chmod(statePath(root), tc.file))
			must(t, os.Chmod(filepath.Join(root, "state"), tc.dir))
			out, err := childCommand(t, "nobody", root).CombinedOutput()
			if err != nil || !strings.Contains(string(out), tc.want) || !strings.Contains(string(out), "read: <nil>") {
				t.Errorf("%v\n%s", err, out)
			}
			mustBe(t, names(t, root), "state.db")
		})
	}
}

// The database is not much larger than the document, however short the session.
func TestSizeOnDisk(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{10, 50, 300} {
		root := memoryDir(t)
		st := history(t, turns)
		store := mustOpen(t, config(root))
		fresh := storetest.Session(0)
		for i := range st.Turns { // as a worker does: turn by turn
			fresh.Turns = st.Turns[:i+1]
			mustSave(t, store, fresh.Clone(), persistence.StepFinished)
		}
		must(t, store.Close())
		database, document := size(t, statePath(root)), int64(len(storetest.Text(t, fresh)))
		t.Logf("%d turns: %d bytes, the document %d: %.2f", turns, database, document, float64(database)/float64(document))
		if float64(database) > 1.3*float64(document) {
			t.Errorf("%d turns: the database is too large", turns)
		}
	}
}
