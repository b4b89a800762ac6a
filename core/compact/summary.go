package compact

import (
	"context"
	"errors"
	"fmt"

	"simplex/hooks"
	"simplex/hooks/contextstat"
	"simplex/loop"
	"simplex/state"
)

// errStopped says that a stop was requested and obeyed.
var errStopped = errors.New("stopped")

// summarise makes the private run (worker-data.md §4.4) on a copy of st without tools. It
// gives the copy as the run left it and how the run ended.
func (r *Runner) summarise(ctx context.Context, st *state.State, instruction string) (*state.State, loop.Outcome, error) {
	statistic, err := contextstat.New(r.cfg.WindowTokens)
	if err != nil {
		return nil, loop.Outcome{}, err
	}
	private := st.Clone()
	private.Tools = nil
	out := loop.Run(ctx, private, state.NewTextMessage(state.UserInput, "user", instruction), loop.Config{
		Model: r.cfg.Model,
		Hooks: hooks.NewRegistry(statistic, noTools{}),
		// An answer ends the run and a call fails it, so there is no second exchange.
		MaxExchanges: 1,
		Logger:       r.cfg.Logger,
	})
	switch out.Status {
	case state.StatusCompleted:
		return private, out, nil
	case state.StatusCancelled:
		return private, out, errStopped
	}
	if out.Err == nil {
		return private, out, fmt.Errorf("summary run ended as %s", out.Status)
	}
	return private, out, fmt.Errorf("summary run: %w", out.Err)
}

// noTools fails the run at the first response with a tool call.
type noTools struct{}

func (noTools) Name() string { return "compaction" }

func (noTools) Handle(_ context.Context, e *hooks.Event) error {
	if e.Name == hooks.ModelCommitted && len(e.Calls) > 0 {
		return fmt.Errorf("%w: %.100q", ErrToolCall, e.Calls[0].Name)
	}
	return nil
}
