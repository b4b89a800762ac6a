package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(cfg storetest.Config) (persistence.Store, error) {
		store, err := sqlitestore.Open(sqlitestore.Config{
			Root: cfg.Root, SessionID: cfg.SessionID, Restore: cfg.Restore, Policy: cfg.Policy, LockWait: -1,
		})
		if err != nil {
			return nil, err
		}
		return store, nil
	})
}

func TestLayoutOnDisk(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "data", "session")
	store := mustOpen(t, config(root))
	mustSave(t, store, storetest.Session(2), persistence.StepFinished)
	mustSave(t, store, storetest.Session(3), persistence.StepFinished)
	mustBe(t, names(t, root), "state.db", "state.db-shm", "state.db-wal")
	for _, name := range []string{"state.db", "state.db-shm", "state.db-wal", "../session.lock"} {
		if info, err := os.Stat(filepath.Join(root, "state", name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	mustBe(t, names(t, root), "state.db")
}

// What the loop does to a state, boundary by boundary: the tables agree with it always.
func TestEveryBoundaryOfToolTurns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store := mustOpen(t, config(root))
	st := storetest.Session(0)
	revision := int64(0)
	for range 5 {
		err := toolTurn(st, func(b persistence.Boundary) error {
			mustSave(t, store, st.Clone(), b)
			got, info := mustRead(t, statePath(root))
			if want := storetest.Text(t, st); got != want {
				t.Fatalf("at %s the tables hold\n%s\nwant\n%s", b, got, want)
			}
			if revision++; info.Revision != revision || info.OperationID == "" {
				t.Errorf("save %d is told as %+v", revision, info)
			}
			return nil
		}, 200)
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = store.Close()
	if storetest.Text(t, mustLoad(t, root)) != storetest.Text(t, st) {
		t.Error("another state comes back")
	}
}

func TestOperationIDOfEachSave(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cfg := config(root)
	n := 0
	cfg.NewID = func() string { n++; return strings.Repeat("x", n) }
	store := mustOpen(t, cfg)
	for want := range 3 {
		mustSave(t, store, storetest.Session(1), persistence.StepFinished)
		if _, info := mustRead(t, statePath(root)); info.Revision != int64(want+1) || len(info.OperationID) != want+1 {
			t.Errorf("save %d: %+v", want+1, info)
		}
	}
}

// Every member that a document can have, and deep values.
func TestFullDocument(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "state", "testdata", "full.json"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := state.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, 1500) + "1" + strings.Repeat("}", 1500)
	strange, err := state.Decode([]byte(strings.Replace(string(raw), "{", `{"~deep":`+deep+`,"extras ":{},"zz":[1.10],`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range []*state.State{st, strange} {
		root := t.TempDir()
		cfg := config(root)
		cfg.SessionID = ""
		store := mustOpen(t, cfg)
		mustSave(t, store, st, persistence.RunFinished)
		want := storetest.Text(t, st)
		if got, _ := mustRead(t, statePath(root)); got != want {
			t.Errorf("read:\n%s\nwant\n%s", got, want)
		}
		_ = store.Close()
		store = mustOpen(t, cfg)
		got, err := store.Load(t.Context())
		if err != nil || storetest.Text(t, got) != want {
			t.Errorf("loaded: %v", err)
		}
	}
}

func TestInvalidTextNamesItsPlace(t *testing.T) {
	t.Parallel()
	store := mustOpen(t, config(t.TempDir()))
	mustSave(t, store, storetest.Session(1), persistence.StepFinished)
	st := storetest.Session(1)
	storetest.AddTurn(st, "\xff")
	err := store.Save(t.Context(), st, persistence.BeforeTools)
	bad, ok := errors.AsType[*state.EncodeError](err)
	if !ok || !strings.HasPrefix(bad.Path, "/turns/1/") {
		t.Errorf("%v", err)
	}
}
