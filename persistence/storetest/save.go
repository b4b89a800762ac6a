package storetest

import (
	"context"
	"errors"
	"testing"

	"simplex/persistence"
	"simplex/state"
)

func skippedBoundaries(t *testing.T, open Open) {
	root := t.TempDir()
	policy := persistence.Policy{SkipStepFinished: true, SkipRunFinished: true, SkipShutdown: true}
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID, Policy: policy})
	st := Session(0)
	var last *state.State
	for _, b := range Boundaries() {
		AddTurn(st, string(b))
		mustSave(t, store, st.Clone(), b)
		if policy.Saves(b) {
			last = st.Clone()
		}
	}
	_ = store.Close()
	mustHold(t, open, root, last)
}

func cancelledContext(t *testing.T, open Open) {
	root := t.TempDir()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	st := Session(0)
	for _, b := range Boundaries() {
		AddTurn(st, string(b))
		if err := store.Save(ctx, st, b); err != nil {
			t.Errorf("save at %s under a cancelled context: %v", b, err)
		}
	}
	_ = store.Close()
	mustHold(t, open, root, st)
}

func failedSaveIsFinal(t *testing.T, open Open) {
	root := t.TempDir()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	good := Session(2)
	mustSave(t, store, good, persistence.RunFinished)
	bad := good.Clone()
	AddTurn(bad, "bad byte: \xff")
	first := store.Save(t.Context(), bad, persistence.StepFinished)
	if !errors.Is(first, persistence.ErrStorageFailed) || !errors.Is(first, state.ErrInvalidUTF8) {
		t.Fatalf("save of invalid UTF-8: %v", first)
	}
	for _, b := range Boundaries() {
		err := store.Save(t.Context(), good, b)
		failed, ok := errors.AsType[*persistence.StorageFailedError](err)
		if !ok || failed.Boundary != persistence.StepFinished {
			t.Errorf("save at %s after a failed one: %v", b, err)
		}
	}
	_ = store.Close()
	mustHold(t, open, root, good)
}

func closed(t *testing.T, open Open) {
	store := mustOpen(t, open, Config{Root: t.TempDir(), SessionID: SessionID})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(t.Context()); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("load: %v", err)
	}
	if err := store.Save(t.Context(), Session(1), persistence.Shutdown); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("save: %v", err)
	}
	if err := store.Close(); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}
