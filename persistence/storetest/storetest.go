// Package storetest says the contract of persistence.Store as tests. A format's own
// test calls Run with a function that opens a store of that format.
//
// It owns what every format must do, and refuses to look at files: what stands on disk
// is the format's own business.
package storetest

import (
	"fmt"
	"strings"
	"testing"

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

func format(t *testing.T, open Open) {
	store := mustOpen(t, open, Config{Root: t.TempDir(), SessionID: SessionID})
	if f := store.Format(); f != "json" && f != "sqlite" {
		t.Errorf("format %q", f)
	}
}
