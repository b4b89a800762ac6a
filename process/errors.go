package process

import (
	"errors"
	"fmt"
)

// Stage names the step of the process layer that failed (tools.md §4.1).
type Stage string

// The stages.
const (
	StageEnvironment Stage = "environment"
	StageResolve     Stage = "resolve executable"
	StageSpawn       Stage = "spawn"
	StageTerminate   Stage = "terminate"
	StageWrite       Stage = "write"
	StageRead        Stage = "read"
	StageUnknown     Stage = "unknown"
)

// Errors a caller decides on. All but ErrTableFull, ErrStoreClosed,
// ErrNoSession and ErrRunning arrive wrapped in an *Error.
var (
	// ErrTableFull: as many sessions are retained or launching as the store allows.
	// Releasing exited sessions makes room.
	ErrTableFull = errors.New("session table is full")
	// ErrStoreClosed: shutdown has begun, nothing is launched any more.
	ErrStoreClosed = errors.New("process store is shut down")
	// ErrNoSession: the id was never given out or its session was released.
	ErrNoSession = errors.New("no such session")
	// ErrRunning: only an exited session can be released.
	ErrRunning = errors.New("session is still running")
	// ErrNotFound: no file for the executable.
	ErrNotFound = errors.New("executable not found")
	// ErrInputClosed: the input has been closed, by request, by exit or by the reader.
	ErrInputClosed = errors.New("input is closed")
	// ErrInputFull: InputQueueLimit messages wait for the child to read.
	ErrInputFull = errors.New("input queue is full")
	// ErrNoInput: the session was launched with /dev/null as its input.
	ErrNoInput = errors.New("session has no input")
	// ErrNotTerminal: the session has no terminal to resize.
	ErrNotTerminal = errors.New("session has no terminal")
)

// Error is a failure of the process layer: what was tried, on what, and why it failed.
type Error struct {
	Stage   Stage
	Subject string // executable as given, or session id
	Err     error
}

func (e *Error) Error() string {
	if e.Subject == "" {
		return fmt.Sprintf("%s: %v", e.Stage, e.Err)
	}
	return fmt.Sprintf("%s %q: %v", e.Stage, e.Subject, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// SizeError tells that one string of a launch, or one line of terminal input,
// is longer than the kernel takes. Sizes are bytes.
type SizeError struct {
	What  string
	Size  int
	Limit int // largest size accepted
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s of %d bytes is over the kernel's limit of %d bytes", e.What, e.Size, e.Limit)
}
