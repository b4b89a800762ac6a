package jsonstore_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/storetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(cfg storetest.Config) (persistence.Store, error) {
		store, err := jsonstore.Open(jsonstore.Config{
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
	cfg := config(root)
	cfg.StateDir = "deep/state"
	store := mustOpen(t, cfg)
	st := storetest.Session(3)
	if err := store.Save(t.Context(), st, persistence.RunFinished); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "deep", "state", "state.json")
	if store.Path() != path || mustRead(t, path) != storetest.Text(t, st) {
		t.Errorf("%s does not hold the document", store.Path())
	}
	for name, want := range map[string]os.FileMode{
		path:                                0o600,
		filepath.Join(root, "session.lock"): 0o600,
		filepath.Dir(path):                  0o700 | os.ModeDir,
		root:                                0o700 | os.ModeDir,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

// A save in a running session: one stream, one fsync of the file, one of the directory.
func TestCostOfASave(t *testing.T) {
	t.Parallel()
	var calls []string
	cfg := config(t.TempDir())
	cfg.Hook = func(label string, _ durable.Op) error {
		calls = append(calls, label)
		return nil
	}
	store := mustOpen(t, cfg)
	want := []string{
		durable.LabelCreate, durable.LabelMode, durable.LabelWrite, durable.LabelSync,
		durable.LabelClose, durable.LabelRename, durable.LabelSyncDir,
	}
	st := storetest.Session(1)
	for i := range 3 {
		calls = nil
		storetest.AddTurn(st, "more")
		if err := store.Save(t.Context(), st, persistence.StepFinished); err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the state directory is new: its entry in the root must last, too
			calls = slices.DeleteFunc(calls, func(c string) bool { return c == durable.LabelDirOpen || c == durable.LabelDirSync })
		}
		if !slices.Equal(calls, want) {
			t.Errorf("save %d makes the calls %q", i, calls)
		}
	}
}

func TestNewDirectoriesAreMadeDurableByTheFirstSave(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	root := filepath.Join(parent, "a", "session")
	var synced []string
	cfg := config(root)
	cfg.Hook = func(label string, op durable.Op) error {
		if label == durable.LabelDirSync {
			synced = append(synced, op.Name)
		}
		return nil
	}
	store := mustOpen(t, cfg)
	for range 2 {
		if err := store.Save(t.Context(), storetest.Session(1), persistence.RunFinished); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{parent, filepath.Join(parent, "a"), root}; !slices.Equal(synced, want) {
		t.Errorf("fsynced %q, want %q", synced, want)
	}
}

func TestRestoreNeverWarnsThatTheOldSessionWillBeReplaced(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	var log bytes.Buffer
	cfg := config(root)
	cfg.Restore, cfg.Logger = persistence.RestoreNever, slog.New(slog.NewTextHandler(&log, nil))
	if _, err := mustOpen(t, cfg).Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), statePath(root)) {
		t.Errorf("log: %s", log.String())
	}
}

func TestStaleTemporaryFilesGoWhenTheSessionIsOpened(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	stale := filepath.Join(root, "state", durable.TempPrefix+"abc123")
	if err := os.WriteFile(stale, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	holder := mustOpen(t, config(root))
	if len(temps(t, root)) != 0 {
		t.Error("the stale file is still there")
	}
	// One who does not get the lock leaves a living writer's file alone.
	if err := os.WriteFile(stale, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := jsonstore.Open(config(root)); !errors.Is(err, persistence.ErrInUse) {
		t.Fatal(err)
	}
	if len(temps(t, root)) != 1 {
		t.Error("a file was removed without the lock")
	}
	_ = holder.Close()
}

func TestHeldSessionIsTriedForOneSecond(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustOpen(t, config(root))
	var waited time.Duration
	fired := make(chan time.Time)
	close(fired)
	cfg := config(root)
	cfg.LockWait = 0
	cfg.After = func(d time.Duration) <-chan time.Time {
		waited += d
		return fired
	}
	_, err := jsonstore.Open(cfg)
	if !errors.Is(err, persistence.ErrInUse) || waited != time.Second {
		t.Errorf("after %v: %v", waited, err)
	}
	if !strings.Contains(err.Error(), root) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("the message names neither root nor holder: %v", err)
	}
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"state", "session.lock"} {
		root, outside := t.TempDir(), filepath.Join(t.TempDir(), "target")
		if err := errors.Join(os.Mkdir(outside, 0o700), os.Symlink(outside, filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
		if _, err := jsonstore.Open(config(root)); err == nil || errors.Is(err, persistence.ErrInUse) {
			t.Errorf("%s as a link: %v", name, err)
		}
		if entries, _ := os.ReadDir(outside); len(entries) != 0 {
			t.Errorf("%s: made outside: %v", name, entries)
		}
	}
}

func BenchmarkSaveOneMoreStep(b *testing.B) {
	store, err := jsonstore.Open(config(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	st := storetest.Session(1000)
	for b.Loop() {
		storetest.AddTurn(st, "one more")
		if err := store.Save(b.Context(), st, persistence.StepFinished); err != nil {
			b.Fatal(err)
		}
	}
}
