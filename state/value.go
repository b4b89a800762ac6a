package state

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
)

// ErrNotObject is returned where a JSON object is wanted and another value came.
var ErrNotObject = errors.New("not a JSON object")

// Value is one JSON value that this program stores and echoes. It is immutable,
// comparable, compact, with object keys sorted bytewise at every depth and number
// literals kept as they were written. The zero Value is "unset".
type Value struct{ raw string }

// Object is a Value that is unset or a JSON object.
type Object struct{ Value }

// ParseValue checks raw as one JSON value (valid UTF-8, no duplicate keys, nothing
// after it, nested at most 1000 deep) and brings it into the form that Value promises.
// The error is a *DecodeError.
func ParseValue(raw []byte) (Value, error) {
	s := scanner{data: raw, limit: maxInputDepth, out: make([]byte, 0, len(raw))}
	v := s.free(0)
	s.end()
	if s.err != nil {
		return Value{}, s.err
	}
	return v, nil
}

// ParseObject is ParseValue for an object.
func ParseObject(raw []byte) (Object, error) {
	v, err := ParseValue(raw)
	if err != nil {
		return Object{}, err
	}
	return v.Object()
}

// ValueOf encodes a Go value. Map keys come out sorted.
func ValueOf(v any) (Value, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Value{}, err
	}
	return ParseValue(raw)
}

// ObjectOf is ValueOf for something that encodes as an object.
func ObjectOf(v any) (Object, error) {
	x, err := ValueOf(v)
	if err != nil {
		return Object{}, err
	}
	return x.Object()
}

// StringValue is the JSON string of s; bytes that are no UTF-8 become U+FFFD.
func StringValue(s string) Value {
	raw, ok := appendQuoted(make([]byte, 0, len(s)+2), s)
	if !ok {
		raw, _ = appendQuoted(raw[:0], strings.ToValidUTF8(s, "\uFFFD"))
	}
	return Value{string(raw)}
}

// EmptyObject is `{}`.
func EmptyObject() Object { return Object{Value{"{}"}} }

// IsSet tells whether the value is present at all (JSON null counts as present).
func (v Value) IsSet() bool { return v.raw != "" }

// IsNull tells whether the value is unset or JSON null.
func (v Value) IsNull() bool { return v.raw == "" || v.raw == "null" }

// Kind is the JSON kind of the value; KindInvalid for unset.
func (v Value) Kind() jsontext.Kind {
	if v.raw == "" {
		return jsontext.KindInvalid
	}
	if c := v.raw[0]; c != '-' && (c < '0' || c > '9') {
		return jsontext.Kind(c)
	}
	return jsontext.KindNumber
}

// String is the compact JSON text; "" for unset.
func (v Value) String() string { return v.raw }

// Bytes is a copy of the compact JSON text.
func (v Value) Bytes() []byte { return []byte(v.raw) }

// MarshalJSONTo writes the value as it is; unset is written as null.
func (v Value) MarshalJSONTo(enc *jsontext.Encoder) error {
	if v.raw == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(jsontext.Value(v.raw))
}

// UnmarshalJSONFrom reads any JSON value.
func (v *Value) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	out, err := ParseValue(raw)
	if err != nil {
		return err
	}
	*v = out
	return nil
}

// UnmarshalJSONFrom reads an object; null leaves it unset.
func (o *Object) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var v Value
	if err := v.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if v.raw == "null" {
		*o = Object{}
		return nil
	}
	x, err := v.Object()
	*o = x
	return err
}

// Decode stores the value in what out points to.
func (v Value) Decode(out any) error { return json.Unmarshal([]byte(v.raw), out) }

// Text is the value of a JSON string.
func (v Value) Text() (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return unquote(v.raw), true
}

// Object gives the value as an object; unset and other kinds are ErrNotObject.
func (v Value) Object() (Object, error) {
	if v.Kind() != '{' {
		return Object{}, fmt.Errorf("%w: %s", ErrNotObject, v.Kind())
	}
	return Object{v}, nil
}
