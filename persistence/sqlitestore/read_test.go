package sqlitestore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

func TestReadWhereNothingIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if _, err := sqlitestore.Read(t.Context(), path, &bytes.Buffer{}); !errors.Is(err, sqlitestore.ErrNoState) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
}

// A closed database is read without a trace, in a directory that could not take one, too.
func TestReadLeavesAClosedDatabaseAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st := storetest.Session(4)
	mustSaveIn(t, root, st)
	before, err := os.Stat(statePath(root))
	must(t, err)
	must(t, os.Chmod(filepath.Join(root, "state"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "state"), 0o700) })
	for range 3 {
		if got, info := mustRead(t, statePath(root)); got != storetest.Text(t, st) || info.Revision != 2 {
			t.Errorf("%+v, %s", info, got)
		}
		mustBe(t, names(t, root), "state.db")
	}
	after, err := os.Stat(statePath(root))
	must(t, err)
	if !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() {
		t.Error("the file was changed")
	}
}

func TestReadAfterAKill(t *testing.T) {
	t.Parallel()
	root := crashed(t)
	before := contents(t, root)
	text, info := mustRead(t, statePath(root))
	mustEqualFiles(t, contents(t, root), before)
	remove(t, statePath(root)+"-shm")
	if _, err := sqlitestore.Read(t.Context(), statePath(root), &bytes.Buffer{}); !errors.Is(err, sqlitestore.ErrNeedsOwner) {
		t.Errorf("without shared memory: %v", err)
	}
	mustBe(t, names(t, root), "state.db", "state.db-wal")
	if got := storetest.Text(t, mustLoad(t, root)); got != text {
		t.Errorf("revision %d was read as\n%s\nand loaded as\n%s", info.Revision, text, got)
	}
}

func TestReadStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(4))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlitestore.Read(ctx, statePath(root), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// swap writes to the database in the middle of a read of it.
type swap struct {
	bytes.Buffer
	once sync.Once
	do   func()
}

func (s *swap) Write(p []byte) (int, error) {
	s.once.Do(s.do)
	return s.Buffer.Write(p)
}

// A closed database that an owner opens, changes and closes while it is read.
func TestReadTellsThatTheDatabaseChanged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st := history(t, 60)
	mustSaveIn(t, root, st)
	w := &swap{do: func() {
		if out, err := childCommand(t, "many", root, "2").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}}
	if _, err := sqlitestore.Read(t.Context(), statePath(root), w); !errors.Is(err, sqlitestore.ErrChanged) {
		t.Errorf("%v", err)
	}
	if got, _ := mustRead(t, statePath(root)); got != storetest.Text(t, mustLoad(t, root)) {
		t.Error("the second read gives another session")
	}
}

// Eight readers in a loop while a worker writes: each sees one save whole, none goes
// back, and neither side is told of a lock.
func TestReadersWhileAWorkerWrites(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	turns := 60
	if os.Getenv("SIMPLEX_LONG") != "" {
		turns = 1000
	}
	mustSaveIn(t, root, storetest.Session(1))
	cmd := childCommand(t, "many", root, strconv.Itoa(turns))
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop, stopped := context.WithCancel(t.Context())
	var seen tally
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { readLoop(t, stop, root, &seen) })
	}
	if err := <-ended; err != nil {
		t.Errorf("the worker: %v\n%s", err, said.String())
	}
	stopped()
	all.Wait()
	st := mustLoad(t, root)
	if len(st.Turns) != 1+turns {
		t.Errorf("%d turns at the end", len(st.Turns))
	}
	revisions := 0
	seen.revisions.Range(func(any, any) bool { revisions++; return true })
	t.Logf("%d turns, %d saves; %d reads of %d revisions by 8 readers, %d more repeated while the owner opened or closed",
		turns, 4*turns, seen.reads.Load(), revisions, seen.changed.Load())
}

// tally counts what the readers got.
type tally struct {
	reads, changed atomic.Int64
	revisions      sync.Map
}

func readLoop(t *testing.T, stop context.Context, root string, seen *tally) {
	last := int64(0)
	for stop.Err() == nil {
		var out bytes.Buffer
		info, err := sqlitestore.Read(t.Context(), statePath(root), &out)
		if errors.Is(err, sqlitestore.ErrChanged) {
			seen.changed.Add(1)
			continue
		}
		if err != nil {
			t.Errorf("read: %v", err)
			return
		}
		st, err := state.Decode(out.Bytes())
		if err != nil {
			t.Errorf("decode: %v", err)
			return
		}
		// Two saves in one transaction of the test, then four for each turn.
		if want := int(info.Revision-2+3)/4 + 1; len(st.Turns) != want || info.Revision < last {
			t.Errorf("revision %d after %d has %d turns, want %d", info.Revision, last, len(st.Turns), want)
			return
		}
		last = info.Revision
		seen.reads.Add(1)
		seen.revisions.Store(info.Revision, true)
	}
}

func TestImportAndExport(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st := storetest.Session(5)
	document := filepath.Join(root, "state", "state.json")
	if err := sqlitestore.Import(t.Context(), config(root)); !errors.Is(err, sqlitestore.ErrNoState) {
		t.Errorf("import of nothing: %v", err)
	}
	if err := sqlitestore.Export(t.Context(), config(root)); !errors.Is(err, sqlitestore.ErrNoState) {
		t.Errorf("export of nothing: %v", err)
	}
	must(t, os.WriteFile(document, []byte(storetest.Text(t, st)), 0o600))
	must(t, sqlitestore.Import(t.Context(), config(root)))
	if err := sqlitestore.Import(t.Context(), config(root)); !errors.Is(err, sqlitestore.ErrExists) {
		t.Errorf("second import: %v", err)
	}
	if err := sqlitestore.Export(t.Context(), config(root)); !errors.Is(err, sqlitestore.ErrExists) {
		t.Errorf("export over the document: %v", err)
	}
	if storetest.Text(t, mustLoad(t, root)) != storetest.Text(t, st) {
		t.Error("another state was imported")
	}
	remove(t, document)
	must(t, sqlitestore.Export(t.Context(), config(root)))
	raw, err := os.ReadFile(document)
	must(t, err)
	if string(raw) != storetest.Text(t, st) {
		t.Error("another state was exported")
	}
	holder := mustOpen(t, config(root))
	if err := sqlitestore.Export(t.Context(), config(root)); !errors.Is(err, persistence.ErrInUse) {
		t.Errorf("export of a session in use: %v", err)
	}
	_ = holder.Close()
}
