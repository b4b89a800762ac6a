package client

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"iter"

	"simplex/internal/text"
)

// messages gives what one line holds: a message, or several in an array. It ends at the
// first error, which is an ErrProtocol; of an array some may have been given by then.
// Of two members of one name the last counts, bytes that are no UTF-8 become U+FFFD,
// and a member that is null is as good as absent: so servers are commonly read.
func messages(line []byte) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if dec.PeekKind() == jsontext.KindBeginArray {
			batch(dec, yield)
			return
		}
		m, err := decode(dec)
		if err == nil {
			err = end(dec)
		}
		yield(m, err)
	}
}

// batch gives the messages of an array.
func batch(dec *jsontext.Decoder, yield func(message, error) bool) {
	_, err := dec.ReadToken()
	if err == nil && dec.PeekKind() == jsontext.KindEndArray {
		err = notMessage("an empty array of messages")
	}
	for err == nil && dec.PeekKind() != jsontext.KindEndArray {
		var m message
		if m, err = decode(dec); err == nil && !yield(m, nil) {
			return
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	if err == nil {
		err = end(dec)
	}
	if err != nil {
		yield(message{}, err)
	}
}

// end is an error where something follows.
func end(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return notMessage("more in a line after its message")
	}
	return nil
}

func decode(dec *jsontext.Decoder) (message, error) {
	var m message
	if kind := dec.PeekKind(); kind != jsontext.KindBeginObject && kind != jsontext.KindInvalid {
		return m, notMessage("a line that is no JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return m, notJSON(err)
	}
	for {
		name, err := dec.ReadToken()
		if err != nil {
			return m, notJSON(err)
		}
		if name.Kind() == jsontext.KindEndObject {
			return m, m.check()
		}
		if err := m.member(dec, name.String()); err != nil {
			return m, err
		}
	}
}

// member takes the value of a member over. Parameters are not kept: nothing that a
// server may ask for needs any.
func (m *message) member(dec *jsontext.Decoder, name string) error {
	switch name {
	case "jsonrpc", "id", "method", "result", "error":
	default:
		if err := dec.SkipValue(); err != nil {
			return notJSON(err)
		}
		return nil
	}
	v, err := dec.ReadValue()
	if err != nil {
		return notJSON(err)
	}
	ok := true
	switch name {
	case "jsonrpc":
		m.revision, ok = stringOf(v)
	case "id":
		m.id, ok = idOf(v)
	case "method":
		m.method, ok = stringOf(v)
		m.called = v.Kind() == jsontext.KindString
	case "result":
		m.result = v.Clone()
	case "error":
		m.err, ok = errorOf(v)
	}
	if !ok {
		return notMessage(fmt.Sprintf("a message with a wrong kind of %q", name))
	}
	return nil
}

// stringOf reads a string; null is the empty one.
func stringOf(v jsontext.Value) (s string, ok bool) {
	switch v.Kind() {
	case jsontext.KindNull:
		return "", true
	case jsontext.KindString:
		return unquote(v), true
	default:
		return "", false
	}
}

// idOf copies an id, a string with bytes that may be sent back.
func idOf(v jsontext.Value) (id jsontext.Value, ok bool) {
	switch v.Kind() {
	case jsontext.KindNull:
		return nil, true
	case jsontext.KindNumber:
		return v.Clone(), true
	case jsontext.KindString:
		return quote(unquote(v)), true
	default:
		return nil, false
	}
}

func errorOf(v jsontext.Value) (*Error, bool) {
	if v.Kind() == jsontext.KindNull {
		return nil, true
	}
	var wire struct {
		Code    float64 `json:"code"`
		Message string  `json:"message"`
	}
	if err := unmarshal(v, &wire); err != nil {
		return nil, false
	}
	const most = 1 << 53 // beyond that it is nobody's code
	if wire.Code < -most || wire.Code > most {
		wire.Code = 0
	}
	return &Error{Code: int64(wire.Code), Message: wire.Message}, true
}

// unmarshal reads a part of a message as leniently as its envelope.
func unmarshal(raw jsontext.Value, out any) error {
	return json.Unmarshal(raw, out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// unquote reads a JSON string that a decoder has passed.
func unquote(v jsontext.Value) string {
	raw, _ := jsontext.AppendUnquote(nil, v) // its error only tells of invalid UTF-8, which is replaced
	return string(raw)
}

// quote makes a JSON string.
func quote(s string) jsontext.Value {
	raw, _ := jsontext.AppendQuote(nil, text.ToValid(s)) // cannot fail on valid UTF-8
	return raw
}
