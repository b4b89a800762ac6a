package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"simplex/core/compact"
	"simplex/hooks"
	"simplex/intercom"
	"simplex/llm"
	"simplex/load"
	"simplex/persistence"
	"simplex/process"
	"simplex/tools"
	"simplex/wire"
	"simplex/wire/display"
)

// drainLimit bounds the last delivery of events at shutdown (worker-data.md §3.6).
const drainLimit = 500 * time.Millisecond

// Application is one worker process: one session, at most one run at a time. New
// assembles it and starts nothing; Run does everything; Close releases what New took.
type Application struct {
	workerID string
	worker   load.Worker
	clock    func() time.Time
	newID    func() string
	logger   *slog.Logger

	session   *session
	provider  llm.Provider
	tools     *tools.Registry
	hooks     *hooks.Registry
	children  *process.Store
	observer  *observer
	confirmer *confirmer
	compactor *compact.Runner
	prompts   load.Prompts
	pager     *display.Pager
	closers   []func() error
	programs  []func(context.Context) error // ends of hook programs
	ended     bool                          // programs and tools

	router *intercom.Router
	client *intercom.Client
	outbox *outbox

	toolCtx   context.Context // ends when waiting tools should give what they have
	endTools  context.CancelFunc
	current   atomic.Pointer[place]
	runs      runs
	telling   sync.Mutex // makes a status and the events around a run follow one another
	seen      *remembered
	retention int
	// neverRestore: the stored session, if any, was passed over (restore: never).
	neverRestore bool
	streams      atomic.Bool // whether the Hub asked for model_delta
	auto         atomic.Pointer[compact.Auto]

	modeMu sync.Mutex
	mode   wire.Mode
}

// Run connects, serves inputs and signals until ctx ends, a `shutdown` signal comes or
// something fails that the worker cannot outlive, and then stops in order: confirmations
// and the model call first, then the tool batch drains to records, the state is saved,
// child processes end, and queued events get 500 ms to leave. It returns nil after an
// orderly stop, whatever asked for it. Run may be called once.
func (a *Application) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	detach := context.AfterFunc(ctx, a.halt)
	defer detach()

	if err := a.announce(lifecycle, wire.EventReady, a.status()); err != nil {
		return err
	}
	io, endIO := context.WithCancel(context.Background())
	defer endIO()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.client.Run(io); err != nil {
			stop(fmt.Errorf("hub connection: %w", err))
		}
	})
	wg.Go(func() { a.pump(io) })
	wg.Go(func() { a.serveSignals(io, stop) })
	wg.Go(func() { a.serveFeedback(io) })
	wg.Go(func() { a.serveQueries(io) })

	err := a.serve(ctx)
	stop(err)
	a.halt()
	err = errors.Join(outcome(ctx, err), a.finish())
	endIO()
	wg.Wait()
	return err
}

// errShutdown is the cause of a stop that the Hub asked for.
var errShutdown = errors.New("shutdown requested")

// outcome tells an orderly stop from a failure.
func outcome(ctx context.Context, served error) error {
	if served != nil {
		return served
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) || errors.Is(cause, errShutdown) {
		return nil
	}
	return cause
}

// halt begins the stop: nothing new runs, what waits gives up.
func (a *Application) halt() {
	a.runs.halt()
	a.endTools()
}

// lastSave saves at exit, unless storage failed before.
func (a *Application) lastSave() error {
	if a.session.broken.Load() || a.unused() {
		return nil
	}
	_, err := a.session.save(a.session.st, persistence.Shutdown)
	return err
}

// unused tells that nothing was admitted and what is stored was not restored: then there
// is nothing worth replacing it.
func (a *Application) unused() bool { return a.neverRestore && a.seen.empty() }

// finish saves, ends the children and lets queued events leave.
func (a *Application) finish() error {
	err := a.lastSave()
	if e := a.endPrograms(); e != nil {
		a.logger.Error("the end of the worker", "error", e)
		err = errors.Join(err, e)
	}
	a.deliver()
	return err
}

// deliver gives queued events a last chance to leave; a connection that is away may come
// back within the limit.
func (a *Application) deliver() {
	ctx, done := context.WithTimeout(context.Background(), drainLimit)
	defer done()
	if a.drained(ctx) == nil {
		return
	}
	count, _ := a.outbox.load()
	waiting, _ := a.client.Load()
	if count+waiting > 0 {
		a.logger.Warn("events were not delivered before the end", "left", count+waiting)
	}
}

// drained waits until every event admitted so far was written or lost.
func (a *Application) drained(ctx context.Context) error {
	if err := a.outbox.drained(ctx); err != nil {
		return err
	}
	return a.client.Drain(ctx)
}

// shutdownLimit is more than the 5 s of grace that children get and what follows it.
const shutdownLimit = 20 * time.Second

// Close releases the store, the provider and everything else that New took.
func (a *Application) Close() error {
	a.endTools()
	errs := []error{a.endPrograms()}
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	return errors.Join(errs...)
}

// pump moves events from the outbox to the transport, in order.
func (a *Application) pump(ctx context.Context) {
	for {
		frame, err := a.outbox.next(ctx)
		if err != nil {
			return
		}
		if err := a.client.Send(ctx, frame); err != nil && !errors.Is(err, intercom.ErrStopped) && ctx.Err() == nil {
			a.logger.Error("an event could not be handed to the transport", "error", err)
		}
		a.outbox.done()
	}
}
