package storetest

import (
	"errors"
	"testing"
	"time"

	"simplex/persistence"
	"simplex/state"
)

func foreignSession(t *testing.T, open Open) {
	root := t.TempDir()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	own := Session(1)
	mustSave(t, store, own, persistence.RunFinished)
	other := state.New("other", time.Now())
	err := store.Save(t.Context(), other, persistence.RunFinished)
	foreign, ok := errors.AsType[*persistence.ForeignSessionError](err)
	if !ok || foreign.Want != SessionID || foreign.Got != "other" || foreign.Path == "" {
		t.Errorf("save of another session: %v", err)
	}
	AddTurn(own, "still saved")
	mustSave(t, store, own, persistence.RunFinished)
	_ = store.Close()
	mustHold(t, open, root, own)

	store = mustOpen(t, open, Config{Root: root, SessionID: "other"})
	st, err := store.Load(t.Context())
	if _, ok := errors.AsType[*persistence.ForeignSessionError](err); !ok || st != nil {
		t.Errorf("load of another session: %v, %v", st, err)
	}
	_ = store.Close()
	mustHold(t, open, root, own)
}

func oneOwner(t *testing.T, open Open) {
	root := t.TempDir()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	second, err := open(Config{Root: root, SessionID: SessionID})
	if err == nil {
		_ = second.Close()
	}
	used, ok := errors.AsType[*persistence.InUseError](err)
	if !ok || !errors.Is(err, persistence.ErrInUse) || used.Root != root || used.Holder == "" {
		t.Errorf("second owner: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, open, root, nil)
}

func restoreNever(t *testing.T, open Open) {
	root := t.TempDir()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	old := Session(2)
	mustSave(t, store, old, persistence.RunFinished)
	_ = store.Close()

	never := Config{Root: root, SessionID: SessionID, Restore: persistence.RestoreNever}
	store = mustOpen(t, open, never)
	if st, err := store.Load(t.Context()); st != nil || err != nil {
		t.Fatalf("restored: %v, %v", st, err)
	}
	_ = store.Close()
	mustHold(t, open, root, old) // not lost before something takes its place

	store = mustOpen(t, open, never)
	if st, err := store.Load(t.Context()); st != nil || err != nil {
		t.Fatalf("restored: %v, %v", st, err)
	}
	_ = store.Close()

	foreign := never
	foreign.SessionID = "another"
	store = mustOpen(t, open, foreign)
	if _, err := store.Load(t.Context()); !isForeign(err) {
		t.Fatalf("another session is passed over: %v", err)
	}
	_ = store.Close()

	store = mustOpen(t, open, never)
	if _, err := store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := Session(1)
	mustSave(t, store, fresh, persistence.BeforeTools)
	_ = store.Close()
	mustHold(t, open, root, fresh)
}

func isForeign(err error) bool {
	_, ok := errors.AsType[*persistence.ForeignSessionError](err)
	return ok
}
