package hooks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// Handler hears the events of a run. Handle is called on the goroutine of the run
// and holds it up; it ignores the events it has no use for by returning nil. The
// context is not cancelled when the run is.
type Handler interface {
	Name() string
	Handle(ctx context.Context, e *Event) error
}

// Keeper is a Handler that hears some events even where one before it failed.
type Keeper interface {
	Handler
	Keeps(event Name) bool
}

// Registry is an ordered, unchangeable list of handlers. A nil Registry has none.
type Registry struct{ handlers []Handler }

// NewRegistry makes a registry that calls the handlers in the order given; nil ones
// are left out.
func NewRegistry(handlers ...Handler) *Registry {
	kept := slices.DeleteFunc(slices.Clone(handlers), func(h Handler) bool { return h == nil })
	return &Registry{handlers: kept}
}

// Empty tells that a dispatch would call nobody.
func (r *Registry) Empty() bool { return r == nil || len(r.handlers) == 0 }

// Dispatch calls the handlers in order and stops at the first error, which is an
// *Error that names the event and the handler. A panic becomes an error whose chain
// holds a *PanicError. Two exceptions: nothing depends on the outcome of RunFinished, so
// every handler hears it, and a Keeper hears the events that it keeps. Errors are joined.
func (r *Registry) Dispatch(ctx context.Context, e *Event) error {
	if r == nil {
		return nil
	}
	var failed []error
	for _, h := range r.handlers {
		if len(failed) > 0 && !hearsAnyway(h, e.Name) {
			continue
		}
		if err := call(ctx, h, e); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}

func hearsAnyway(h Handler, event Name) bool {
	if event == RunFinished {
		return true
	}
	k, ok := h.(Keeper)
	return ok && k.Keeps(event)
}

func call(ctx context.Context, h Handler, e *Event) (err error) {
	event := e.Name // a handler may write into e
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
		if err != nil {
			err = &Error{Event: event, Handler: handlerName(h), Err: err}
		}
		e.Name = event
	}()
	return h.Handle(ctx, e)
}

// handlerName survives a Name that panics, because it runs while an error is told.
func handlerName(h Handler) (name string) {
	name = fmt.Sprintf("%T", h)
	defer func() { _ = recover() }()
	return h.Name()
}

// Error says which handler failed at which event.
type Error struct {
	Event   Name
	Handler string
	Err     error
}

func (e *Error) Error() string {
	return fmt.Sprintf("hook %s at %s: %v", e.Handler, e.Event, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// PanicError is a panic of a handler. The stack is for logs, not for Error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
