package compact

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"simplex/loop"
	"simplex/persistence/archive"
	"simplex/state"
)

// Archive keeps the old states; *archive.Memory is one.
type Archive interface {
	Dir() string
	File(name string) string
	Next(now time.Time, runID string) (name string, err error) // changes nothing
	Create(name string) error
	Write(name string, st *state.State) error
	Clean(current string, referring ...*state.State) (archive.Cleaned, error)
}

// Config is what a Runner works with.
type Config struct {
	Archive      Archive    // nil: persistence is off, everything is refused
	Model        loop.Model // shows nothing of what it streams
	WindowTokens uint64     // context_window_tokens of context_statistic; > 0

	// Save makes the replacement durable (boundary compact) before it returns.
	Save func(replacement *state.State) error
	// Swap takes the replacement over; it follows a successful Save at once and cannot fail.
	// It is the place for what has to come before the cleanup: the revision, readable.md.
	Swap func(replacement *state.State)

	Now    func() time.Time
	NewID  func() string // a fresh UUID each time
	Logger *slog.Logger  // nil: discarded
}

// Runner makes compactions, one at a time.
type Runner struct{ cfg Config }

// New checks that nothing needed is missing. Archive may be.
func New(cfg Config) (*Runner, error) {
	if cfg.Model == nil || cfg.Save == nil || cfg.Swap == nil || cfg.Now == nil || cfg.NewID == nil {
		return nil, errors.New("compaction: the configuration lacks a part")
	}
	if cfg.WindowTokens == 0 {
		return nil, errors.New("compaction: the context window has no tokens")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{cfg}, nil
}

// Job is one compaction.
type Job struct {
	RunID  string // a lowercase UUID; part of the archive's name
	Prompt string // the rendered instruction of the operation
	// Archived is called once the archive is written, before the model is asked; its error
	// fails the compaction. A manual compaction announces run_started here. May be nil.
	Archived func() error
}

// Outcome is how a compaction ended.
type Outcome struct {
	Status    state.LoopStatus // completed, cancelled or failed
	Err       error            // why it failed; nil otherwise
	Stage     loop.Stage       // set exactly when it failed
	Exchanges uint64           // of the summary run (compact_exchanges)

	Replacement  *state.State // set exactly when it completed: what was saved and swapped in
	Summary      string       // verbatim
	MemoryFile   string       // of the archive; "" as long as none was written
	RemovedTurns uint64

	Cleaned    archive.Cleaned // what retention removed, also after a failure
	CleanupErr error           // retention failed; this fails nothing else
}

// Check tests the preconditions of a compaction (§4.1, step 1): ErrNoPersistence,
// ErrPhase, ErrNothing. It is also the admission rule of the operation (§3.7).
func (r *Runner) Check(st *state.State) error {
	switch {
	case r.cfg.Archive == nil:
		return ErrNoPersistence
	case st.Loop != nil && st.Loop.Phase != state.PhaseReady:
		return fmt.Errorf("%w: phase is %s", ErrPhase, st.Loop.Phase)
	case len(st.Turns) == 0:
		return ErrNothing
	}
	return nil
}

// Run compacts st (§4.1). It does not change st: the replacement reaches the session by
// Config.Save and Config.Swap only. Cancelling ctx stops it at the next stop point before
// the save; a save that began is finished.
func (r *Runner) Run(ctx context.Context, st *state.State, job Job) Outcome {
	a := &attempt{Runner: r, old: st, job: job}
	err := a.perform(ctx)
	switch {
	case err == nil:
		a.out.Status = state.StatusCompleted
	case errors.Is(err, errStopped):
		a.out.Status = state.StatusCancelled
	default:
		a.out.Status, a.out.Err = state.StatusFailed, err
		if a.out.Stage == "" {
			a.out.Stage = loop.StageOther
		}
	}
	a.clean()
	if err != nil {
		a.out.Replacement, a.out.Summary = nil, ""
	}
	return a.out
}

// attempt is one compaction under way.
type attempt struct {
	*Runner
	old  *state.State
	job  Job
	name string // of the archive
	plan *Plan
	out  Outcome
}

func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return errStopped
	}
	return nil
}

// perform takes the steps of §4.1 up to the swap. The stop points stand between them.
func (a *attempt) perform(ctx context.Context) error {
	steps := []func(context.Context) error{
		a.reserve, stopped, a.archive, a.summarise, stopped, a.accept, stopped, a.commit,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reserve plans first: a preflight failure leaves no archive behind.
func (a *attempt) reserve(context.Context) (err error) {
	if err := a.Check(a.old); err != nil {
		return err
	}
	store := a.cfg.Archive
	if a.name, err = store.Next(a.cfg.Now(), a.job.RunID); err != nil {
		return err
	}
	place := Place{Dir: store.Dir(), File: store.File(a.name)}
	if a.plan, err = NewPlan(a.old, place, a.cfg.WindowTokens, a.cfg.NewID()); err != nil {
		return err
	}
	return store.Create(a.name)
}

func (a *attempt) archive(context.Context) error {
	if err := a.cfg.Archive.Write(a.name, a.old); err != nil {
		return err
	}
	a.out.MemoryFile = a.cfg.Archive.File(a.name)
	if a.job.Archived == nil {
		return nil
	}
	return a.job.Archived()
}

// summarise asks the model; a.out.Replacement holds the private state until accept.
func (a *attempt) summarise(ctx context.Context) error {
	private, out, err := a.Runner.summarise(ctx, a.old, a.plan.Instruction(a.job.Prompt))
	a.out.Exchanges, a.out.Stage = out.Exchanges, out.Stage
	a.out.Replacement = private
	return err
}

func (a *attempt) accept(context.Context) (err error) {
	private := a.out.Replacement
	step := private.LastStep()
	if step == nil {
		return ErrBlank
	}
	if a.out.Summary, err = a.plan.Summary(step.ModelResponse); err != nil {
		return err
	}
	a.out.Replacement, err = a.plan.Replacement(a.old, private, a.out.Summary, state.TimeStamp(a.cfg.Now()))
	return err
}

func (a *attempt) commit(context.Context) error {
	if err := a.cfg.Save(a.out.Replacement); err != nil {
		return fmt.Errorf("save the compacted session: %w", err)
	}
	a.out.RemovedTurns = uint64(len(a.old.Turns))
	a.cfg.Swap(a.out.Replacement)
	return nil
}

// clean applies retention after every attempt that wrote an archive (§4.6). What the
// session refers to is protected; after a failure that is the old state, and the attempted
// one too, because a failed save may have reached the disk.
func (a *attempt) clean() {
	if a.out.MemoryFile == "" {
		return
	}
	referring := []*state.State{a.out.Replacement}
	if a.out.Status != state.StatusCompleted {
		referring = append(referring, a.old)
	}
	a.out.Cleaned, a.out.CleanupErr = a.cfg.Archive.Clean(a.name, referring...)
}
