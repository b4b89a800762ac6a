package intercom

import (
	"errors"
	"fmt"
	"net/http"
)

// Errors that callers decide upon.
var (
	ErrStopped         = errors.New("stopped")                          // by Stop or by the caller's context
	ErrUsed            = errors.New("the client was run already")       // a Client is single use
	ErrQueueFull       = errors.New("the write queue is full")          // TrySend, frames
	ErrQueueBytes      = errors.New("the write queue is out of bytes")  // Send and TrySend
	ErrBinary          = errors.New("the peer sent a binary message")   // fatal
	ErrTimedOut        = errors.New("the exchange timed out")           // Exchange
	ErrTooLarge        = errors.New("the message is too large")         // over the inbound cap
	ErrSignalsFull     = errors.New("the signal queue is full")         // Router, fatal
	ErrOutstandingNext = errors.New("another next call is outstanding") // Router
)

// errNoUpgrade stands for every answer that is no HTTP response.
var errNoUpgrade = errors.New("the answer is not that of a WebSocket server")

// DialError says which step of connecting failed. Its text has no query in it.
type DialError struct {
	Step   string // "connect" (DNS included), "tls" or "upgrade"
	Status int    // HTTP status of a refused upgrade, else 0
	Err    error
}

func (e *DialError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s refused: %d %s", e.Step, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: %v", e.Step, e.Err)
}

func (e *DialError) Unwrap() error { return e.Err }

// DisconnectError says that an established connection ended.
type DisconnectError struct {
	Code int // close code of the peer, 0 without one
	Err  error
}

func (e *DisconnectError) Error() string { return fmt.Sprintf("disconnected: %v", e.Err) }

func (e *DisconnectError) Unwrap() error { return e.Err }

// FatalError ends Run: the peer broke the protocol or the handler failed.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return fmt.Sprintf("fatal: %v", e.Err) }

func (e *FatalError) Unwrap() error { return e.Err }
