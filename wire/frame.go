package wire

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// FrameKind is the envelope type of a Hub frame.
type FrameKind string

// The two kinds a Hub may send.
const (
	FramePayload FrameKind = "payload"
	FrameSignal  FrameKind = "signal"
)

// Frame is one decoded envelope from the Hub (wire.md §2). Its byte fields alias the
// message it was decoded from.
type Frame struct {
	Kind      FrameKind
	Data      jsontext.Value // the whole data object, as received
	Operation jsontext.Value // data.operation as received; nil when missing
	RequestID jsontext.Value // data.request_id as received; nil when missing
	Size      int            // bytes of the whole envelope
}

// Op is the operation if it is a string, else "".
func (f *Frame) Op() Operation {
	s, _ := textOf(f.Operation)
	return Operation(s)
}

// FrameError says why a message from the peer cannot be an envelope. It ends the
// connection for good.
type FrameError struct {
	Problem string
	Err     error // the JSON error, if that is the problem
}

func (e *FrameError) Error() string {
	if e.Err == nil {
		return "malformed envelope: " + e.Problem
	}
	return fmt.Sprintf("malformed envelope: %s: %v", e.Problem, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }

// FrameDecoder decodes Hub frames one after the other without allocating for each. The
// zero value is ready; it belongs to one goroutine.
type FrameDecoder struct {
	dec jsontext.Decoder
	buf bytes.Buffer
	raw jsontext.Value
}

// DecodeFrame decodes one frame; see [FrameDecoder.Decode].
func DecodeFrame(raw []byte) (Frame, error) {
	var d FrameDecoder
	return d.Decode(raw)
}

// Decode reads raw as `{"type":"payload"|"signal","data":{…}}`; further members are
// checked as JSON and ignored. Every error is a *FrameError.
func (d *FrameDecoder) Decode(raw []byte) (Frame, error) {
	if !utf8.Valid(raw) {
		return Frame{}, &FrameError{Problem: "invalid UTF-8"}
	}
	d.raw = raw
	d.buf = *bytes.NewBuffer(raw)
	// Half of an escaped surrogate pair, as a browser writes of a cut character, and a name
	// that is there twice are well formed here; whoever reads the member refuses them with
	// an answer.
	d.dec.Reset(&d.buf, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	f := Frame{Size: len(raw)}
	if kind := d.dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return Frame{}, &FrameError{Problem: "not an object"}
	}
	err := d.object(func(name []byte) error { return d.member(&f, name) })
	if err != nil {
		return Frame{}, asFrameError(err)
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Frame{}, &FrameError{Problem: "text after the envelope"}
	}
	switch {
	case f.Kind == "":
		return Frame{}, &FrameError{Problem: "type is missing"}
	case f.Data == nil:
		return Frame{}, &FrameError{Problem: "data is missing"}
	}
	return f, nil
}

func asFrameError(err error) *FrameError {
	if fe, ok := errors.AsType[*FrameError](err); ok {
		return fe
	}
	return &FrameError{Problem: "invalid JSON", Err: err}
}

// object reads an object and calls member with each name, unquoted; member reads the
// value.
func (d *FrameDecoder) object(member func(name []byte) error) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	for d.dec.PeekKind() == '"' {
		quoted, err := d.dec.ReadValue()
		if err != nil {
			return err
		}
		name := []byte(quoted[1 : len(quoted)-1])
		if bytes.IndexByte(name, '\\') >= 0 {
			if name, err = jsontext.AppendUnquote(nil, []byte(quoted)); err != nil {
				return err
			}
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := d.dec.ReadToken()
	return err
}

func (d *FrameDecoder) member(f *Frame, name []byte) error {
	if string(name) == "type" && f.Kind != "" || string(name) == "data" && f.Data != nil {
		return &FrameError{Problem: string(name) + " is there twice"}
	}
	switch string(name) {
	case "type":
		val, err := d.dec.ReadValue()
		if err != nil {
			return err
		}
		kind, ok := textOf(val)
		f.Kind = FrameKind(kind)
		if !ok {
			return &FrameError{Problem: "type is no string"}
		}
		if f.Kind != FramePayload && f.Kind != FrameSignal {
			return &FrameError{Problem: "unknown type"}
		}
		return nil
	case "data":
		if kind := d.dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
			return &FrameError{Problem: "data is no object"}
		}
		return d.data(f)
	default:
		return d.dec.SkipValue()
	}
}

func (d *FrameDecoder) data(f *Frame) error {
	at := int(d.dec.InputOffset()) // behind the name: only white space and a colon are left
	start := at + bytes.IndexByte(d.raw[at:], '{')
	err := d.object(func(name []byte) error {
		val, err := d.value()
		switch string(name) {
		case "operation":
			f.Operation = val
		case "request_id":
			f.RequestID = val
		}
		return err
	})
	if err == nil {
		f.Data = d.raw[start:d.dec.InputOffset()]
	}
	return err
}

// value reads the next value and gives it as a part of the input.
func (d *FrameDecoder) value() (jsontext.Value, error) {
	val, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.dec.InputOffset())
	return d.raw[end-len(val) : end : end], nil
}
