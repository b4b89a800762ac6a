package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"simplex/hooks"
)

// ErrDown: the program has ended too often and is not started any more.
var ErrDown = errors.New("the program is not started any more")

// ErrClosed: the hook was closed.
var ErrClosed = errors.New("the hook is closed")

// ErrReported: the program itself reported that it failed.
var ErrReported = errors.New("the program reports")

// Hook implements hooks.Handler.
type Hook struct {
	cfg Config

	mu       sync.Mutex
	life     *life // nil: down
	restarts int
	last     uint64 // id of an event
	closed   bool
	watchers sync.WaitGroup
}

// Start starts the program and waits until it is ready, at most for the deadline. On
// failure nothing runs any more; otherwise the hook must be closed.
func Start(ctx context.Context, cfg Config) (*Hook, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	h := &Hook{cfg: cfg}
	if err := h.launch(ctx); err != nil {
		return nil, fmt.Errorf("external hook %s: %w", cfg.Name, err)
	}
	return h, nil
}

// launch needs h.mu, or a hook that nobody else has.
func (h *Hook) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Deadline)
	defer cancel()
	l, err := launch(ctx, h.cfg)
	if err != nil {
		return err
	}
	h.life = l
	h.watchers.Go(func() { h.watch(l) })
	return nil
}

// watch makes the end of a program visible when it happens, not at the next event.
func (h *Hook) watch(l *life) {
	select {
	case <-l.child.Exited():
	case <-l.quit:
		return
	}
	select {
	case <-l.quit: // it was ended
	default:
		h.cfg.Logger.Error("the program of a hook ended by itself", "status", fmt.Sprint(l.child.Status()))
	}
}

// Name is the one of the Config.
func (h *Hook) Name() string { return h.cfg.Name }

// Handle sends the event, if it is among those wanted, and applies the answer at the
// two EditOn events. It returns within the deadline, or twice that after a restart.
// What goes wrong is returned, or with FailOpen logged; Event.Edit is then as it was.
func (h *Hook) Handle(ctx context.Context, e *hooks.Event) error {
	if !slices.Contains(h.cfg.Events, e.Name) {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.handle(ctx, e)
	if err != nil && h.cfg.FailOpen {
		h.cfg.Logger.Error("a hook failed; the run goes on without it", "event", e.Name, "error", err)
		return nil
	}
	return err
}

func (h *Hook) handle(ctx context.Context, e *hooks.Event) error {
	if err := h.ensure(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Deadline)
	defer cancel()
	h.last++
	message := newEvent(h.last, e)
	err := h.life.send(ctx, message)
	var a answer
	if err == nil && message.Answer {
		a, err = h.life.receive(ctx)
		if err == nil && (a.Type != "answer" || a.ID != h.last) {
			err = fmt.Errorf("%w: an answer to event %d was wanted", ErrProtocol, h.last)
		}
	}
	if err != nil {
		return errors.Join(err, h.drop())
	}
	if a.Error != "" {
		return fmt.Errorf("%w: %.1000s", ErrReported, a.Error)
	}
	if !message.Answer {
		return nil
	}
	return apply(e.Edit, a.Edit)
}

// ensure starts the program again if it is down or has ended.
func (h *Hook) ensure(ctx context.Context) error {
	if h.closed {
		return ErrClosed
	}
	if h.life != nil {
		select {
		case <-h.life.child.Exited(): // the watcher told of it
			if err := h.drop(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	if h.restarts >= h.cfg.MaxRestarts {
		return fmt.Errorf("%w after %d restarts", ErrDown, h.restarts)
	}
	h.restarts++
	h.cfg.Logger.Warn("the program of a hook is started again", "restart", h.restarts)
	return h.launch(ctx)
}

// abrupt is the grace of a program that failed: it had its deadline.
const abrupt = 100 * time.Millisecond

// drop ends the program; the next event starts it again.
func (h *Hook) drop() error {
	l := h.life
	h.life = nil
	return l.end(min(abrupt, h.cfg.Grace), nil)
}

// Close ends the program and its group: end of input and TERM, the grace time, KILL.
// The end of ctx cuts the grace time short. It waits for an event under way.
func (h *Hook) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	var err error
	if h.life != nil {
		err = h.life.end(h.cfg.Grace, ctx.Done())
		h.life = nil
	}
	h.watchers.Wait()
	if err != nil {
		return fmt.Errorf("external hook %s: %w", h.cfg.Name, err)
	}
	return nil
}
