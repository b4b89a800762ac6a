package post

import (
	"context"
	"errors"
	"io"
	"time"

	"simplex/llm"
	"simplex/llm/sse"
	"simplex/state"
)

// Stream is the body of an answer with status 200. It is valid while the function
// that Do calls with it runs.
type Stream struct {
	dec     *sse.Decoder
	watch   *watch
	secrets secrets
	ctx     context.Context // the try's
	ended   bool            // the body was read to its end
}

// errSettled ends a try whose answer is already complete (see Settle).
var errSettled = errors.New("answer is settled")

// Next gives the next event. io.EOF is the end of the body, clean or, after Settle,
// because the time was over. Faults are *llm.Error.
func (s *Stream) Next() (sse.Event, error) {
	e, err := s.dec.Next()
	if err != nil {
		return e, s.fault(err)
	}
	return e, nil
}

// Settle says that the answer is complete but for trimmings: the rest of the body is
// awaited no longer than d.
func (s *Stream) Settle(d time.Duration) { s.watch.arm(d, errSettled, true) }

// Plain gives the whole body when it is no event stream but a JSON or HTML document;
// nil when it is an event stream.
func (s *Stream) Plain() ([]byte, error) {
	first, err := s.dec.First()
	if err != nil {
		return nil, s.fault(err)
	}
	if first != '{' && first != '<' && first != '[' {
		return nil, nil
	}
	body, err := s.dec.Rest()
	if err != nil {
		return nil, s.fault(err)
	}
	s.ended = true
	return body, nil
}

// Excerpt gives the part of a provider's text that may stand in an error.
func (s *Stream) Excerpt(text []byte) string {
	cut := len(text) > 2*excerptLimit
	if cut {
		text = text[:2*excerptLimit]
	}
	return s.secrets.excerpt(string(text), excerptLimit, cut)
}

// Object gives a provider's error object without secrets.
func (s *Stream) Object(raw []byte) state.Object {
	o, err := state.ParseObject([]byte(s.secrets.scrub(string(raw))))
	if err != nil {
		return state.Object{}
	}
	return o
}

func (s *Stream) fault(err error) error {
	if errors.Is(err, io.EOF) {
		s.ended = true
		return io.EOF
	}
	if cause := context.Cause(s.ctx); cause != nil {
		if errors.Is(cause, errSettled) {
			return io.EOF
		}
		err = cause
	}
	return &llm.Error{Stage: llm.StageRead, Transient: !errors.Is(err, sse.ErrTooLong), Err: err}
}

// touching tells the watch of each byte that arrives.
type touching struct {
	io.Reader
	watch *watch
}

func (t touching) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.watch.touch()
	}
	return n, err
}
