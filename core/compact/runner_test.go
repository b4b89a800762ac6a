package compact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simplex/core/compact"
	"simplex/loop"
	"simplex/persistence/archive"
	"simplex/persistence/readable"
	"simplex/state"
	"simplex/wire"
)

func TestCompaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.talk()
	old := b.st
	before := encoded(t, old)
	b.model.add(says("The user asked four questions; all are answered."))
	out := b.runner().Run(context.Background(), b.st, b.job())
	if out.Status != state.StatusCompleted || out.Err != nil || out.Exchanges != 1 || out.RemovedTurns != 4 || out.CleanupErr != nil {
		t.Fatalf("%+v", out)
	}
	if got := fmt.Sprint(b.events); got != "[archived save swap]" {
		t.Errorf("order of steps: %s", got)
	}
	if encoded(t, old) != before {
		t.Error("the old state was written to")
	}
	if b.st != out.Replacement || len(b.st.Turns) != 0 || len(b.st.Tools) != 1 || b.st.Loop.Status != state.StatusCompleted {
		t.Errorf("%+v", b.st)
	}
	if encoded(t, b.onDisk()) != encoded(t, b.st) {
		t.Error("the replacement is not on disk")
	}
	var want bytes.Buffer
	if err := readable.Write(&want, old, readable.Limits{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out.MemoryFile); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("the archive is not the old state: %v", err)
	}
	memory, _ := b.st.SystemPrompt.Section(compact.MemorySection)
	if !strings.Contains(memory.Text, out.Summary) || !strings.Contains(memory.Text, out.MemoryFile) {
		t.Errorf("%q", memory.Text)
	}
	if b.st.Loop.CommittedSequence != old.Loop.CommittedSequence+1 {
		t.Errorf("sequence %d after %d", b.st.Loop.CommittedSequence, old.Loop.CommittedSequence)
	}
	if got := wire.CompactFinished(compact.Finished(out, 7)); got.Summary != out.Summary || got.Revision != 7 || !got.Durable || got.Origin != "" || got.ArchiveCleanup == nil {
		t.Errorf("%+v", got)
	}
}

// The private run shows the model the whole conversation, valid, with no tools to call,
// and the instruction last (BR-054).
func TestSummaryRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.talk()
	b.model.add(says("Summary of it all."))
	if out := b.runner().Run(context.Background(), b.st, b.job()); out.Status != state.StatusCompleted {
		t.Fatal(out.Err)
	}
	if len(b.model.asked) != 1 {
		t.Fatalf("asked %d times", len(b.model.asked))
	}
	asked := b.model.asked[0]
	if err := state.Check(asked); err != nil || len(asked.Turns) != 5 || len(asked.Tools) != 0 {
		t.Errorf("%v, %d turns, %d tools", err, len(asked.Turns), len(asked.Tools))
	}
	if last := asked.LastTurn(); len(last.Steps) != 0 || last.UserInput.Role != "user" || !strings.HasPrefix(last.UserInput.Text(), "Summarise.\n") {
		t.Errorf("%+v", last.UserInput)
	}
}

// What follows a compaction is a valid request that begins with a user input, has no
// result without its call, and knows the summary; after any number of them (BR-054).
func TestRequestsAfterCompaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for round := range 3 {
		b.talk()
		summary := fmt.Sprint("Summary number ", round)
		b.model.add(says(summary))
		if out := b.runner().Run(context.Background(), b.st, b.job()); out.Status != state.StatusCompleted {
			t.Fatal(out.Err)
		}
		if !compact.CanResume(b.st) {
			t.Fatal("a continue would be refused")
		}
		b.model.asked = nil
		b.model.add(says("", "look"), says("on it"))
		out := b.segment(context.Background(), compact.ContinueMessage("Go on.", wire.Execution{WorkerID: "w", RequestID: "r", RunID: "u"}))
		if out.Status != state.StatusCompleted {
			t.Fatal(out.Err)
		}
		for _, asked := range b.model.asked {
			prompt, err := asked.SystemPrompt.Render()
			if err != nil || !strings.Contains(prompt, summary) || strings.Count(prompt, "BEGIN HISTORICAL_MEMORY_") != 1 {
				t.Errorf("%v: %s", err, prompt)
			}
			if err := state.Check(asked); err != nil || len(asked.Turns) != 1 || asked.Turns[0].UserInput.Text() != "Go on." {
				t.Errorf("%v, %d turns", err, len(asked.Turns))
			}
		}
	}
}

// faulty is an archive that fails in one place.
type faulty struct {
	compact.Archive
	next, create, write, clean error
}

func (f faulty) Next(now time.Time, runID string) (string, error) {
	if f.next != nil {
		return "", f.next
	}
	return f.Archive.Next(now, runID)
}

func (f faulty) Create(name string) error {
	return errors.Join(f.create, f.Archive.Create(name))
}

func (f faulty) Write(name string, st *state.State) error {
	if f.write != nil {
		return f.write
	}
	return f.Archive.Write(name, st)
}

func (f faulty) Clean(name string, states ...*state.State) (archive.Cleaned, error) {
	if f.clean != nil {
		return archive.Cleaned{}, f.clean
	}
	return f.Archive.Clean(name, states...)
}

// Whatever fails before the save leaves the session as it was, in memory and on disk, and
// the model is asked at most once (BR-055).
func TestRefusals(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, tt := range []struct {
		name     string
		prepare  func(b *bench, job *compact.Job)
		want     error
		stage    loop.Stage
		asked    int
		archives int // directories
	}{
		{"no turns", func(b *bench, _ *compact.Job) { b.st.Turns = nil }, compact.ErrNothing, loop.StageOther, 0, 0},
		{"phase", func(b *bench, _ *compact.Job) {
			b.st.Loop = &state.LoopProgress{Status: state.StatusFailed, Phase: state.PhaseBlocked}
		}, compact.ErrPhase, loop.StageOther, 0, 0},
		{"ordinals", func(b *bench, _ *compact.Job) { b.archive = faulty{Archive: b.memory, next: archive.ErrExhausted} }, archive.ErrExhausted, loop.StageOther, 0, 0},
		{"run id", func(_ *bench, job *compact.Job) { job.RunID = "nonsense" }, archive.ErrRunID, loop.StageOther, 0, 0},
		{"no room", func(b *bench, _ *compact.Job) { b.window = 100 }, compact.ErrFixed, loop.StageOther, 0, 0},
		{"create", func(b *bench, _ *compact.Job) { b.archive = faulty{Archive: b.memory, create: fs.ErrExist} }, fs.ErrExist, loop.StageOther, 0, 1},
		{"write", func(b *bench, _ *compact.Job) { b.archive = faulty{Archive: b.memory, write: boom} }, boom, loop.StageOther, 0, 1},
		{"archived", func(_ *bench, job *compact.Job) { job.Archived = func() error { return boom } }, boom, loop.StageOther, 0, 1},
		{"model", func(b *bench, _ *compact.Job) { b.model.add(fails(boom)) }, boom, loop.StageModelRequest, 1, 1},
		{"tool call", func(b *bench, _ *compact.Job) {
			b.model.add(says("first I look", "look", "look2"), says("then I tell"))
		}, compact.ErrToolCall, loop.StageOther, 1, 1},
		{"empty", func(b *bench, _ *compact.Job) { b.model.add(says("")) }, compact.ErrBlank, loop.StageOther, 1, 1},
		{"white space", func(b *bench, _ *compact.Job) { b.model.add(says("\n \t")) }, compact.ErrBlank, loop.StageOther, 1, 1},
		{"too long", func(b *bench, _ *compact.Job) { b.model.add(says(strings.Repeat("x", 32769))) }, compact.ErrLong, loop.StageOther, 1, 1},
		{"longer than the original", func(b *bench, _ *compact.Job) { b.model.add(says(strings.Repeat("x", 30000))) }, compact.ErrLittle, loop.StageOther, 1, 1},
		{"no UTF-8", func(b *bench, _ *compact.Job) { b.model.add(says("a\xff")) }, compact.ErrNotUTF8, loop.StageOther, 1, 1},
		{"save", func(b *bench, _ *compact.Job) {
			b.model.add(says("fine"))
			b.save = func(*state.State) error { return boom }
		}, boom, loop.StageOther, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.talk()
			job := b.job()
			tt.prepare(b, &job)
			st, before, disk := b.st, encoded(t, b.st), encoded(t, b.onDisk())
			out := b.runner().Run(context.Background(), b.st, job)
			if out.Status != state.StatusFailed || !errors.Is(out.Err, tt.want) || out.Stage != tt.stage || out.Replacement != nil || out.CleanupErr != nil {
				t.Errorf("%+v", out)
			}
			if b.st != st || encoded(t, b.st) != before || b.swaps != 0 || encoded(t, b.onDisk()) != disk {
				t.Error("the session changed")
			}
			entries, _ := os.ReadDir(b.memory.Dir())
			if len(b.model.asked) != tt.asked || len(entries) != tt.archives {
				t.Errorf("asked %d times, %d archives", len(b.model.asked), len(entries))
			}
		})
	}
}

func TestWithoutPersistence(t *testing.T) {
	t.Parallel()
	model := &script{}
	r, err := compact.New(compact.Config{
		Model: model, WindowTokens: 1, Now: time.Now, NewID: uuids(),
		Save: func(*state.State) error { return nil }, Swap: func(*state.State) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := r.Run(context.Background(), state.New("s", noon), compact.Job{}); !errors.Is(out.Err, compact.ErrNoPersistence) {
		t.Errorf("%+v", out)
	}
	if _, err := compact.New(compact.Config{Model: model}); err == nil {
		t.Error("an incomplete configuration is taken")
	}
}

// The cleanup's error is told and fails nothing; a failed attempt cleans, too, and its
// archive counts.
func TestCleanup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.talk()
	var err error
	if b.memory, err = archive.New(archive.Config{Dir: b.memory.Dir(), Keep: 1}); err != nil {
		t.Fatal(err)
	}
	b.model.add(says(""), says(""))
	first := b.runner().Run(context.Background(), b.st, b.job())
	second := b.runner().Run(context.Background(), b.st, b.job())
	if first.Cleaned.Archives != 0 || second.Cleaned.Archives != 1 || second.CleanupErr != nil {
		t.Errorf("%+v\n%+v", first, second)
	}
	if _, err := os.Stat(second.MemoryFile); err != nil {
		t.Error(err)
	}
	b.archive = faulty{Archive: b.memory, clean: fs.ErrPermission}
	b.model.add(says("fine"))
	third := b.runner().Run(context.Background(), b.st, b.job())
	if third.Status != state.StatusCompleted || !errors.Is(third.CleanupErr, fs.ErrPermission) {
		t.Errorf("%+v", third)
	}
	if data := compact.Finished(third, 1); data.ArchiveCleanup != nil || data.ArchiveCleanupError == "" {
		t.Errorf("%+v", data)
	}
	if entries, _ := filepath.Glob(filepath.Join(b.memory.Dir(), "*", archive.FileName)); len(entries) != 2 {
		t.Errorf("%v", entries)
	}
}

// After a failure the session still refers to its archives: they stay, however few are to
// be kept.
func TestCleanupAfterFailureProtectsTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.talk()
	var err error
	if b.memory, err = archive.New(archive.Config{Dir: b.memory.Dir(), Keep: 1}); err != nil {
		t.Fatal(err)
	}
	b.model.add(says("The first summary."))
	first := b.runner().Run(context.Background(), b.st, b.job())
	if first.Status != state.StatusCompleted {
		t.Fatal(first.Err)
	}
	b.talk()
	failing := b.job()
	failing.Archived = func() error { return errors.New("outbox full") }
	b.runner().Run(context.Background(), b.st, failing)
	b.save = func(*state.State) error { return errors.New("disk full") }
	b.model.add(says("The second summary."))
	second := b.runner().Run(context.Background(), b.st, b.job())
	for _, file := range []string{first.MemoryFile, second.MemoryFile} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if second.Status != state.StatusFailed || second.Cleaned.Archives != 1 {
		t.Errorf("%+v", second)
	}
}
