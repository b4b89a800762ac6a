package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// ConfigError is a fault in the configuration of one provider. It is ErrConfig.
type ConfigError struct {
	Provider string // its name under providers; "" while that is not known
	Path     string // below the provider's entry, such as /endpoint/base_url
	Err      error  // what is wrong; no value of the configuration
}

func (e *ConfigError) Error() string {
	text := ErrConfig.Error() + ": "
	if e.Provider != "" {
		text += "provider " + e.Provider + ": "
	}
	return text + e.Path + ": " + e.Err.Error()
}

// Is makes errors.Is(err, ErrConfig) true.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }

// Unwrap gives what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// BadSetting is the fault of one generation setting.
func BadSetting(name, reason string) error {
	return &ConfigError{Path: "/config/" + name, Err: errors.New(reason)}
}

// Error is a failed exchange. Its text holds the provider's own words, with keys and
// header values taken out.
type Error struct {
	Stage      Stage
	URL        string        // what was asked, without query and what might be a key; "": not said
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
		text := "SSE request rejected: HTTP " + strconv.Itoa(e.Status) // the contract's words (§6.2)
		if word := http.StatusText(e.Status); word != "" {
			text += " " + word
		}
		if e.URL != "" {
			text += " to " + e.asked() + e.twice()
		}
		return join(text, e.Message)
	case StageProvider:
		text := "the model server answered " + e.asked() + " with an error"
		if e.Status != 0 {
			text += " " + strconv.Itoa(e.Status)
		}
		return join(text, e.Message)
	case StageFinish:
		return join(fmt.Sprintf("the model's answer is not complete: finish_reason %q", e.Code), e.Message)
	case StageRequest:
		return e.because("the model request could not be made")
	case StageConnect:
		return e.because("no connection to the model server for "+e.asked()) + e.plain()
	case StageWrite:
		return e.because(e.asked() + " could not be sent to the model server")
	case StageRead:
		return e.because("no whole answer of the model server to " + e.asked())
	}
	return e.because("the model's answer makes no sense")
}

func (e *Error) because(text string) string {
	if e.Err != nil {
		text = join(text, e.Err.Error())
	}
	return join(text, e.Message)
}

// asked is the request as a person may see it.
func (e *Error) asked() string {
	if e.URL == "" {
		return "the request"
	}
	return "POST " + e.URL
}

// twice is the advice where base_url ends like request_path begins.
func (e *Error) twice() string {
	if !strings.Contains(e.URL+"/", "/v1/v1/") {
		return ""
	}
	return " (the path has /v1 twice: leave it out of endpoint.base_url, because endpoint.request_path begins with it)"
}

// plain is the advice where a server that has no TLS was asked for it.
func (e *Error) plain() string {
	if _, ok := errors.AsType[tls.RecordHeaderError](e.Err); !ok {
		return ""
	}
	return " (the server seems to speak plain http: begin endpoint.base_url with http://)"
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
