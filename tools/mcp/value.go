package mcp

import (
	"bytes"
	"encoding/json/jsontext"

	"simplex/state"
)

// tolerant brings a value of the server's into our form. Where the strict reading fails
// it is read as messages are: of two members of one name the last counts, what is no
// UTF-8 becomes U+FFFD. Nothing stays unset.
func tolerant(raw jsontext.Value) (state.Value, error) {
	if len(raw) == 0 {
		return state.Value{}, nil
	}
	v, err := state.ParseValue(raw)
	if err == nil {
		return v, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	mended, failure := mend(dec)
	if failure != nil || int(dec.InputOffset()) != len(raw) {
		return state.Value{}, err
	}
	return state.ValueOf(mended)
}

// mend reads a value into maps, slices, strings and the text of what is neither, as
// deep as the decoder goes.
func mend(dec *jsontext.Decoder) (any, error) {
	switch dec.PeekKind() {
	case jsontext.KindBeginObject:
		return mendObject(dec)
	case jsontext.KindBeginArray:
		return mendArray(dec)
	case jsontext.KindString:
		token, err := dec.ReadToken()
		return token.String(), err
	default:
		v, err := dec.ReadValue()
		return v.Clone(), err
	}
}

func mendObject(dec *jsontext.Decoder) (any, error) {
	_, err := dec.ReadToken()
	out := map[string]any{}
	for err == nil && dec.PeekKind() == jsontext.KindString {
		var name jsontext.Token
		if name, err = dec.ReadToken(); err != nil {
			break
		}
		key := name.String()
		out[key], err = mend(dec)
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	return out, err
}

func mendArray(dec *jsontext.Decoder) (any, error) {
	_, err := dec.ReadToken()
	out := []any{}
	for err == nil && dec.PeekKind() != jsontext.KindEndArray {
		var v any
		if v, err = mend(dec); err == nil {
			out = append(out, v)
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	return out, err
}
