package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"simplex/state"
)

// Errors that a caller may want to tell apart.
var (
	ErrUnknownPlugin   = errors.New("unknown provider plugin")
	ErrConfig          = errors.New("provider configuration")
	ErrInvalidOption   = errors.New("invalid option")
	ErrUnsupportedPart = errors.New("unsupported content part")
	ErrUnpairedCall    = errors.New("tool calls and results do not match")
	ErrEmptyRequest    = errors.New("nothing to send")
	ErrIdleTimeout     = errors.New("no data arrived within the idle timeout")
	ErrWriteTimeout    = errors.New("the request could not be written in time")
	ErrTruncated       = errors.New("the stream ended before the answer was complete")
)

// Stage is the part of an exchange that failed.
type Stage string

// Stages, in the order in which an exchange passes them.
const (
	StageRequest  Stage = "request"  // building the request; nothing was sent
	StageConnect  Stage = "connect"  // name, connection, TLS
	StageWrite    Stage = "write"    // sending
	StageRead     Stage = "read"     // headers or stream
	StageRejected Stage = "rejected" // an HTTP status other than 200
	StageProvider Stage = "provider" // an error object instead of an answer
	StageFinish   Stage = "finish"   // the answer ended for a reason that is no success
	StageAssembly Stage = "assembly" // the answer makes no sense
)

// Error is a failed exchange. Its text holds the provider's own words, with keys and
// header values taken out.
type Error struct {
	Stage      Stage
	Status     int           // HTTP status, or the one in an error object; 0: none
	Code       string        // the provider's code, or the finish_reason
	Message    string        // the provider's words
	Object     state.Object  // the provider's error object, when there was one
	Transient  bool          // trying again may help
	RetryAfter time.Duration // what the provider asked to wait; 0: nothing usable
	Tries      int           // requests made; 0 or 1: one
	Err        error
}

// Error says what happened, once.
func (e *Error) Error() string {
	text := e.describe()
	if e.Tries > 1 {
		text += fmt.Sprintf(" (after %d tries)", e.Tries)
	}
	return text
}

func (e *Error) describe() string {
	switch e.Stage {
	case StageRejected:
		text := "SSE request rejected: HTTP " + strconv.Itoa(e.Status)
		if word := http.StatusText(e.Status); word != "" {
			text += " " + word
		}
		return join(text, e.Message)
	case StageProvider:
		if e.Status != 0 {
			return join("model provider error "+strconv.Itoa(e.Status), e.Message)
		}
		return join("model provider error", e.Message)
	case StageFinish:
		return join(fmt.Sprintf("the model's answer is not complete: finish_reason %q", e.Code), e.Message)
	}
	text := "model " + string(e.Stage)
	if e.Err != nil {
		text = join(text, e.Err.Error())
	}
	return join(text, e.Message)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// TransientStatus tells whether a request refused with that status is worth another try (§6.3).
func TransientStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500 && status <= 599
}

// Aborted is the error of an exchange whose context has ended.
func Aborted(ctx context.Context) error {
	return fmt.Errorf("operation aborted: %w", ctx.Err())
}
