package post

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
)

// classify makes the error of a try that got no answer (§6.3).
func (a *attempt) classify(err error) error {
	if cause := context.Cause(a.ctx); cause != nil {
		err = cause
	}
	stage := *a.stage.Load()
	e := &llm.Error{Stage: stage, Err: err, Transient: true}
	if stage == llm.StageConnect {
		e.Transient = passing(err)
	}
	return e
}

// passing tells whether a failure to connect may pass by itself. A bad certificate or
// an unknown host does not.
func passing(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound && (dns.IsTemporary || dns.IsTimeout)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return true
	}
	for _, is := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
		io.EOF, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// rejected makes the error of an answer with another status than 200.
func (a *attempt) rejected(resp *http.Response) error {
	limit := 2*excerptLimit + a.c.secrets.longest()
	raw, _ := io.ReadAll(io.LimitReader(touching{resp.Body, a.watch}, int64(limit)))
	e := &llm.Error{
		Stage: llm.StageRejected, Status: resp.StatusCode, Transient: llm.TransientStatus(resp.StatusCode),
		Message: a.c.secrets.excerpt(string(raw), excerptLimit, len(raw) == limit),
	}
	if said, ok := readError(raw); ok && said.Code != nil {
		e.Code = a.c.secrets.scrub(codeText(said.Code))
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), a.c.clock.Now())
	}
	settle(e)
	return e
}

// ProviderError makes the error of an error object that came instead of an answer
// under status 200. raw is the value of "error" or, where that is missing, the whole
// object. The status in it decides about another try (§9, 10).
func (s *Stream) ProviderError(raw []byte) error {
	e := &llm.Error{Stage: llm.StageProvider, Object: s.Object(raw)}
	said, ok := readError([]byte(`{"error":` + string(raw) + `}`))
	if !ok || said.Message == "" {
		e.Message = s.Excerpt(raw)
		if text, isText := plainText(raw); isText {
			e.Message = s.Excerpt([]byte(text))
		}
	} else {
		e.Message = s.Excerpt([]byte(said.Message))
		e.Code = s.secrets.scrub(codeText(said.Code))
	}
	e.Status = statusIn(e.Object.Value.String())
	e.Transient = llm.TransientStatus(e.Status)
	settle(e)
	return e
}

// settle keeps a conversation that is too long from being sent again as it is, also
// where the server calls that a failure of its own.
func settle(e *llm.Error) {
	e.Transient = e.Transient && !e.ContextExceeded()
}

// readError reads the common form {"error":{"message","code",…}}.
func readError(raw []byte) (*openai.APIError, bool) {
	var body openai.ErrorResponse
	if err := json.Unmarshal(raw, &body); err != nil || body.Error == nil {
		return nil, false
	}
	return body.Error, true
}

func plainText(raw []byte) (string, bool) {
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err == nil
}

func codeText(code any) string {
	switch c := code.(type) {
	case string:
		return c
	case int:
		return strconv.Itoa(c)
	}
	return ""
}

// statusIn looks for an HTTP status among the members of an error object.
func statusIn(object string) int {
	var members struct {
		Status     jsontext.Value `json:"status"`
		StatusCode jsontext.Value `json:"status_code"`
		Code       jsontext.Value `json:"code"`
	}
	if json.Unmarshal([]byte(object), &members) != nil {
		return 0
	}
	for _, v := range []jsontext.Value{members.Status, members.StatusCode, members.Code} {
		n, err := strconv.Atoi(strings.Trim(string(v), `"`))
		if err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return 0
}

// retryAfter reads the header: whole seconds or a date. Anything else, and a wait of
// nothing, is 0: the usual backoff is used.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
