// Package storetest says the contract of persistence.Store as tests. A format's own
// test calls Run with a function that opens a store of that format.
//
// It owns what every format must do, and refuses to look at files: what stands on disk
// is the format's own business.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"simplex/persistence"
	"simplex/state"
)

// Config is what the suite asks of a store that it opens.
type Config struct {
	Root      string
	SessionID string
	Restore   persistence.Restore
	Policy    persistence.Policy
}

// Open opens a store of the format under test. It must not wait for a held lock. The
// suite closes what it opens.
type Open func(cfg Config) (persistence.Store, error)

// SessionID is the id of the suite's session.
const SessionID = "suite"

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, Open){
		"NothingThere":          nothingThere,
		"RoundTrip":             roundTrip,
		"UnknownMembersAreKept": unknownMembersAreKept,
		"EditedHistory":         editedHistory,
		"SkippedBoundaries":     skippedBoundaries,
		"CancelledContext":      cancelledContext,
		"ForeignSession":        foreignSession,
		"OneOwner":              oneOwner,
		"RestoreNever":          restoreNever,
		"FailedSaveIsFinal":     failedSaveIsFinal,
		"Closed":                closed,
		"Format":                format,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

func mustOpen(t *testing.T, open Open, cfg Config) persistence.Store {
	t.Helper()
	store, err := open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func mustSave(t *testing.T, store persistence.Store, st *state.State, b persistence.Boundary) {
	t.Helper()
	if err := store.Save(t.Context(), st, b); err != nil {
		t.Fatalf("save at %s: %v", b, err)
	}
}

// mustHold opens the session anew and compares it with want; nil: nothing is there.
func mustHold(t *testing.T, open Open, root string, want *state.State) {
	t.Helper()
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	defer store.Close()
	got, err := store.Load(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case want == nil && got != nil:
		t.Fatalf("a session of %d turns is there", len(got.Turns))
	case want == nil:
	case got == nil:
		t.Fatal("nothing is there")
	default:
		if a, b := Text(t, got), Text(t, want); a != b {
			t.Fatalf("loaded:\n%s\nsaved:\n%s", a, b)
		}
	}
}

func nothingThere(t *testing.T, open Open) {
	root := t.TempDir()
	mustHold(t, open, root, nil)
	mustHold(t, open, root, nil) // opening alone saves nothing
}

func roundTrip(t *testing.T, open Open) {
	root := t.TempDir()
	st := Session(0)
	for i, b := range Boundaries() {
		store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
		if _, err := store.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		for j := range 3 { // the later saves of one store meet records it has seen
			AddTurn(st, fmt.Sprintf("%s %d.%d", b, i, j))
			mustSave(t, store, st.Clone(), b)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		mustHold(t, open, root, st)
	}
	st.Turns = st.Turns[len(st.Turns)-1:] // as compaction does
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	mustSave(t, store, st, persistence.Compact)
	_ = store.Close()
	mustHold(t, open, root, st)
}

func unknownMembersAreKept(t *testing.T, open Open) {
	root := t.TempDir()
	text := Text(t, Session(1))
	strange := "{\n" + `  "a member of tomorrow": {"n": 12345678901234567890.10, "s": ["\u0001", null]},` + strings.TrimPrefix(text, "{")
	st, err := state.Decode([]byte(strange))
	if err != nil {
		t.Fatal(err)
	}
	store := mustOpen(t, open, Config{Root: root, SessionID: SessionID})
	mustSave(t, store, st, persistence.RunFinished)
	_ = store.Close()
	if !strings.Contains(Text(t, st), "12345678901234567890.10") {
		t.Fatal("the codec itself loses the member")
	}
	mustHold(t, open, root, st)
}

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

func format(t *testing.T, open Open) {
	store := mustOpen(t, open, Config{Root: t.TempDir(), SessionID: SessionID})
	if f := store.Format(); f != "json" && f != "sqlite" {
		t.Errorf("format %q", f)
	}
}
