package sqlitestore

import (
	"database/sql/driver"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"simplex/state"
)

// errShape is wrapped by whatever does not fit the schema's meaning.
var errShape = errors.New("its rows do not make a session")

// cursor stands on one row of a query. The first error sticks and ends the rows.
type cursor struct {
	rows driver.Rows
	path string
	vals []driver.Value
	ok   bool // there is a row
	err  error
}

func (k *cursor) advance() {
	k.ok = false
	if k.err != nil || k.rows == nil {
		return
	}
	err := k.rows.Next(k.vals)
	if errors.Is(err, io.EOF) {
		return
	}
	k.fail(fault(k.path, err))
	k.ok = k.err == nil
}

func (k *cursor) fail(err error) {
	if k.err == nil && err != nil {
		k.err = err
	}
}

func (k *cursor) close() {
	if k.rows != nil {
		k.fail(fault(k.path, k.rows.Close()))
		k.rows = nil
	}
}

func (k *cursor) wrong(format string, args ...any) {
	k.fail(corrupt(k.path, fmt.Errorf("%w: %s", errShape, fmt.Sprintf(format, args...))))
}

func (k *cursor) null(i int) bool { return k.vals[i] == nil }

func (k *cursor) num(i int) int64 {
	n, ok := k.vals[i].(int64)
	if !ok && k.ok {
		k.wrong("a number is missing")
	}
	return n
}

func (k *cursor) text(i int) string {
	s, ok := k.vals[i].(string)
	if k.ok && (!ok || !utf8.ValidString(s)) {
		k.wrong("a text is not valid")
	}
	return s
}

// word reads an enum; what is not among the words is the first of them, as in a document.
func word[E ~string](k *cursor, i int, words ...E) E {
	if w, ok := known(k, i, words); ok {
		return w
	}
	return words[0]
}

// strict reads an enum that has no default.
func strict[E ~string](k *cursor, i int, words ...E) E {
	w, ok := known(k, i, words)
	if !ok {
		k.wrong("%v is no known word", k.vals[i])
	}
	return w
}

// known reads one of the words, which stands there as text or as its code.
func known[E ~string](k *cursor, i int, words []E) (E, bool) {
	if n, ok := k.vals[i].(int64); ok && n >= wordCode && n < wordCode+int64(len(words)) {
		return words[n-wordCode], true
	}
	text := E(k.text(i))
	return text, slices.Contains(words, text)
}

// object reads an optional object.
func (k *cursor) object(i int) state.Object {
	if k.null(i) || !k.ok {
		return state.Object{}
	}
	raw := k.text(i)
	if raw == "{}" {
		return state.EmptyObject()
	}
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		o, err = deepObject(raw)
	}
	if err != nil {
		k.fail(corrupt(k.path, err))
	}
	return o
}

// deepObject reads an object that is nested deeper than a value from outside may be, but
// not deeper than a document may.
func deepObject(raw string) (state.Object, error) {
	var c state.Content
	err := json.Unmarshal([]byte(`{"modality":"text","extras":`+raw+`}`), &c)
	return c.Extras, err
}

// value reads any JSON.
func (k *cursor) value(i int) state.Value {
	raw := k.text(i)
	if raw == "{}" || !k.ok {
		return state.EmptyObject().Value
	}
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		var call state.Call
		err = json.Unmarshal([]byte(`{"arguments":`+raw+`}`), &call)
		v = call.Arguments
	}
	if err != nil {
		k.fail(corrupt(k.path, err))
	}
	return v
}
