package compact_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"simplex/core/compact"
	"simplex/state"
)

// spy calls at each step of the archive.
type spy struct {
	compact.Archive
	at func(step string)
}

func (s spy) Next(now time.Time, runID string) (string, error) {
	s.at("next")
	return s.Archive.Next(now, runID)
}

func (s spy) Create(name string) error {
	s.at("create")
	err := s.Archive.Create(name)
	s.at("created")
	return err
}

func (s spy) Write(name string, st *state.State) error {
	s.at("write")
	err := s.Archive.Write(name, st)
	s.at("written")
	return err
}

// watched is a bench in which at is called at every place of a compaction.
func watched(t *testing.T, at func(step string)) *bench {
	b := newBench(t)
	b.talk()
	b.archive = spy{b.memory, at}
	b.model.add(func(ctx context.Context) (*state.Message, error) {
		at("model")
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m, err := says("A summary.")(ctx)
		at("answered")
		return m, err
	})
	times := 0
	b.now = func() time.Time {
		if times++; times == 2 {
			at("accept")
		}
		return noon
	}
	b.save = func(next *state.State) error {
		at("save")
		err := b.store.Save(context.Background(), next, "compact")
		at("saved")
		return err
	}
	return b
}

// A stop at any point before the save leaves the session as it was and makes no further
// step of consequence; one that comes during the save is too late.
func TestCancelAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		point string
		want  state.LoopStatus
		asked int
		files int // archives that were written
	}{
		{"before", state.StatusCancelled, 0, 0},
		{"next", state.StatusCancelled, 0, 0},
		{"create", state.StatusCancelled, 0, 0},
		{"created", state.StatusCancelled, 0, 0},
		{"write", state.StatusCancelled, 0, 1},
		{"written", state.StatusCancelled, 0, 1},
		{"model", state.StatusCancelled, 1, 1},
		{"answered", state.StatusCancelled, 1, 1},
		{"accept", state.StatusCancelled, 1, 1},
		{"save", state.StatusCompleted, 1, 1},
		{"saved", state.StatusCompleted, 1, 1},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			reached := tt.point == "before"
			if reached {
				cancel()
			}
			b := watched(t, func(step string) {
				if step == tt.point {
					reached = true
					cancel()
				}
			})
			before, st := encoded(t, b.st), b.st
			out := b.runner().Run(ctx, b.st, b.job())
			if !reached || out.Status != tt.want || out.Err != nil || out.CleanupErr != nil {
				t.Fatalf("reached %v: %+v", reached, out)
			}
			if len(b.model.asked) != tt.asked {
				t.Errorf("asked %d times", len(b.model.asked))
			}
			if (out.MemoryFile != "") != (tt.files > 0) {
				t.Errorf("archive %q", out.MemoryFile)
			}
			unchanged := b.st == st && encoded(t, b.st) == before && encoded(t, b.onDisk()) == before
			if unchanged != (tt.want == state.StatusCancelled) {
				t.Errorf("unchanged: %v", unchanged)
			}
		})
	}
}

// A stop during the model call wins over what the answer would have been refused for.
func TestCancelBeforeRefusal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(t)
	b.talk()
	b.model.add(func(ctx context.Context) (*state.Message, error) {
		cancel()
		return says("")(ctx)
	})
	if out := b.runner().Run(ctx, b.st, b.job()); out.Status != state.StatusCancelled || out.Err != nil {
		t.Errorf("%+v", out)
	}
}

type crash struct{}

// A crash at any point leaves the old session or the new one on disk, each whole, and the
// next compaction works.
func TestCrashAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"next", "create", "created", "write", "written", "model", "answered", "accept", "save", "saved"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := watched(t, func(step string) {
				if step == point && step != "model" && step != "answered" {
					panic(crash{})
				}
			})
			if point == "model" || point == "answered" { // the loop turns a panic of the model into a failure
				b.model.answers = nil
				b.model.add(fails(errors.New("the connection died with the process")))
			}
			before := encoded(t, b.st)
			func() {
				defer func() {
					if v := recover(); v != nil && v != (crash{}) {
						panic(v)
					}
				}()
				b.runner().Run(context.Background(), b.st, b.job())
			}()
			found := b.onDisk()
			if isNew := encoded(t, found) != before; isNew != (point == "saved") {
				t.Fatalf("a new state on disk: %v", isNew)
			} else if isNew && (len(found.Turns) != 0 || !compact.CanResume(found)) {
				t.Error("the new state is not whole")
			}
			b.st, b.archive, b.save = found, nil, nil
			b.now = func() time.Time { return noon }
			b.model.answers = nil
			b.talk()
			b.model.add(says("After the crash."))
			out := b.runner().Run(context.Background(), b.st, b.job())
			if out.Status != state.StatusCompleted {
				t.Fatal(out.Err)
			}
			if _, err := os.Stat(out.MemoryFile); err != nil {
				t.Error(err)
			}
		})
	}
}
