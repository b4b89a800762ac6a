package wire

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"

	"simplex/state"
)

var (
	errNotObject = errors.New("not a JSON object")
	errTrailing  = errors.New("text after the JSON value")
)

// fields are the members of one object by name. The values alias the input.
type fields map[string]jsontext.Value

// readFields reads one whole object, strictly.
func readFields(raw []byte) (fields, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return nil, errNotObject
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := fields{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		val, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		out[key] = raw[end-len(val) : end : end]
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return out, nil
}

// text gives a member that is a JSON string.
func (f fields) text(name string) (string, bool) { return textOf(f[name]) }

// has tells whether the member is there at all, be it null.
func (f fields) has(name string) bool { return f[name] != nil }

// object gives a member that is a JSON object.
func (f fields) object(name string) (state.Object, bool) {
	if f[name].Kind() != '{' {
		return state.Object{}, false
	}
	o, err := state.ParseObject(f[name])
	return o, err == nil
}

func textOf(v jsontext.Value) (string, bool) {
	if len(v) == 0 || v.Kind() != '"' {
		return "", false
	}
	if len(v) >= 2 && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), true
	}
	out, err := jsontext.AppendUnquote(nil, []byte(v))
	return string(out), err == nil
}

// readItems lists the elements of an array; they alias the input.
func readItems(raw jsontext.Value) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if dec.PeekKind() != '[' {
		return nil, errors.New("not a JSON array")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var out []jsontext.Value
	for dec.PeekKind() != ']' {
		val, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		out = append(out, raw[end-len(val):end:end])
	}
	return out, nil
}
