package client

import (
	"errors"
	"fmt"

	"simplex/internal/text"
)

// Why a session ended; what was called meanwhile fails with one of the two.
var (
	// ErrLost: a stream ended or broke.
	ErrLost = errors.New("the connection to the server is lost")
	// ErrProtocol: the server sent what the protocol does not allow.
	ErrProtocol = errors.New("the server broke the protocol")
)

// Error is the server's answer that refuses a request.
type Error struct {
	Code    int64
	Message string // as the server worded it
}

func (e *Error) Error() string {
	const most = 4 << 10
	return fmt.Sprintf("the server refuses: %s (code %d)", text.Prefix(text.Display(e.Message), most), e.Code)
}

func notMessage(what string) error { return fmt.Errorf("%w: it sent %s", ErrProtocol, what) }

func notJSON(err error) error {
	return fmt.Errorf("%w: it sent a line that is no JSON: %w", ErrProtocol, err)
}
