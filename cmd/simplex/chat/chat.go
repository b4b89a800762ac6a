package chat

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"simplex/core"
	"simplex/hub/adapter"
	"simplex/load"
	"simplex/process/kin"
)

// ErrNotCompleted says that a prompt of which the exit code should tell, the one prompt or
// one that did not come from a terminal, ended in another way than completed; or that none
// could be taken. It was reported already.
var ErrNotCompleted = errors.New("the run did not complete")

// Config says what to run and where to show it.
type Config struct {
	SessionID string
	Worker    *load.Config // its client and confirmation endpoints are replaced
	StateFile string       // where the session is kept, for the operator to know
	Settle    string       // the command that settles it, for the same
	Env       load.Env
	Prompt    string // with Once
	Once      bool   // answer Prompt and leave, instead of a conversation
	Approve   bool   // approve every call without asking
	JSON      bool   // events as JSON lines instead of the answers
	Live      bool   // show answers as they come; for a conversation on a terminal
	Logger    *slog.Logger
	Reaper    *kin.Reaper // as in core.Config

	Stdin      io.Reader
	Terminal   bool // whether Stdin is a terminal
	Stdout     io.Writer
	Stderr     io.Writer
	Interrupts <-chan os.Signal // each one is a Ctrl-C
	// Started is called with the function that ends all children at once, for a process
	// that has no time left.
	Started func(abort func())
}

// Run starts the worker, converses until the operator leaves or ctx ends, and stops the
// worker in order.
func Run(ctx context.Context, cfg Config) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	op := newOperator(ctx.Done())
	hub, err := listen(adapter.New(adapter.Config{SessionID: cfg.SessionID, Handler: op, Logger: cfg.Logger}))
	if err != nil {
		return err
	}
	defer hub.close()

	worker, err := hub.fillIn(cfg.Worker)
	if err != nil {
		return err
	}
	app, err := core.New(core.Config{SessionID: cfg.SessionID, Worker: worker, Env: cfg.Env, Logger: cfg.Logger, Reaper: cfg.Reaper})
	if err != nil {
		return err
	}
	if cfg.Started != nil {
		cfg.Started(app.Abort)
	}
	stopped := make(chan error, 1)
	work, stopWork := context.WithCancel(context.Background())
	defer stopWork()
	go func() { stopped <- app.Run(work) }()

	t := &talk{cfg: cfg, op: op, hub: hub.adapter, stopped: stopped}
	t.show = newRenderer(cfg)
	verdict := t.converse(ctx)
	stopWork()
	leave()
	return errors.Join(verdict, t.wait(), app.Close())
}
