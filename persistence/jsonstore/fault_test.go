package jsonstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/storetest"
	"simplex/state"
)

// Each labelled call of a save fails once and for ever: what is on disk is the last good
// or the new session whole, the failure is final although the disk works again, and the
// next process finds a good session.
func TestFaultAtEveryCallOfASave(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for _, sticky := range []bool{false, true} {
			for at := 1; saveWithFault(t, errno, at, sticky); at++ {
			}
		}
	}
}

// saveWithFault tells whether a call of that number was reached.
func saveWithFault(t *testing.T, errno syscall.Errno, at int, sticky bool) bool {
	t.Helper()
	root := t.TempDir()
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
			return errno
		}
		return nil
	}
	store := mustOpen(t, cfg)
	st := storetest.Session(3)
	if err := store.Save(t.Context(), st, persistence.StepFinished); err != nil {
		t.Fatal(err)
	}
	before := mustRead(t, statePath(root))
	storetest.AddTurn(st, "the new one")
	after := storetest.Text(t, st)

	armed = true
	err := store.Save(t.Context(), st, persistence.BeforeTools)
	armed = false
	if failed == "" {
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	sf, ok := errors.AsType[*persistence.StorageFailedError](err)
	if !ok || !errors.Is(err, errno) || sf.Boundary != persistence.BeforeTools {
		t.Fatalf("%v at %s: %v", errno, failed, err)
	}
	want := before
	if sf.Published {
		want = after
	}
	if got := mustRead(t, statePath(root)); got != want {
		t.Errorf("%v at %s: published %v, but the file has %d bytes", errno, failed, sf.Published, len(got))
	}
	if !sticky && len(temps(t, root)) != 0 {
		t.Errorf("%v at %s: temporary file left", errno, failed)
	}
	n = 0
	if err := store.Save(t.Context(), st, persistence.Shutdown); !errors.Is(err, persistence.ErrStorageFailed) {
		t.Errorf("%v at %s: the next save: %v", errno, failed, err)
	}
	if got := mustRead(t, statePath(root)); got != want {
		t.Errorf("%v at %s: a save after the failure wrote", errno, failed)
	}
	_ = store.Close()
	if err := session(root, nil); err != nil || len(temps(t, root)) != 0 {
		t.Errorf("%v at %s: the next process: %v, left %v", errno, failed, err, temps(t, root))
	}
	return true
}

// A failure while the session is opened gives everything back and changes nothing.
func TestFaultAtEveryCallOfOpenAndLoad(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(2))
	want := mustRead(t, statePath(root))
	for at := 1; ; at++ {
		if err := os.WriteFile(filepath.Join(root, "state", durable.TempPrefix+"abc123"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		n, failed := 0, ""
		cfg := config(root)
		cfg.Hook = func(label string, _ durable.Op) error {
			if n++; n != at {
				return nil
			}
			failed = label
			return syscall.EIO
		}
		err := openAndLoad(t, cfg)
		if failed == "" {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("EIO at %s: %v", failed, err)
		}
		if got := mustRead(t, statePath(root)); got != want {
			t.Fatalf("EIO at %s: the file was changed", failed)
		}
	}
	if err := session(root, nil); err != nil {
		t.Errorf("the session is not free: %v", err)
	}
}

// Killed at every labelled call, from the lock to the last fsync: the next process gets
// the lock, finds the old or the new session and no leftovers.
func TestKillAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, prior := range []int{0, 2} { // a new session; one that is there
		old, fresh := 0, 0
		for n := 1; ; n++ {
			root := filepath.Join(t.TempDir(), "session")
			if prior > 0 {
				mustSaveIn(t, root, storetest.Session(prior))
			}
			err := childCommand(t, "save", root, strconv.Itoa(n)).Run()
			if err == nil {
				t.Logf("%d turns before: %d points, every child seen dead; old %d, new %d", prior, n-1, old, fresh)
				break
			}
			if !killed(err) {
				t.Fatalf("point %d: the child was not killed: %v", n, err)
			}
			store := mustOpen(t, config(root))
			if left := temps(t, root); len(left) != 0 {
				t.Errorf("point %d: left behind: %v", n, left)
			}
			st, err := store.Load(t.Context())
			if err != nil {
				t.Fatalf("point %d: %v", n, err)
			}
			switch turns(st) {
			case prior:
				old++
			case prior + 1:
				fresh++
			default:
				t.Errorf("point %d: %d turns after %d", n, turns(st), prior)
			}
			_ = store.Close()
		}
		if old == 0 || fresh == 0 {
			t.Errorf("%d turns before: the kills missed a side: old %d, new %d", prior, old, fresh)
		}
	}
}

func turns(st *state.State) int {
	if st == nil {
		return 0
	}
	return len(st.Turns)
}
