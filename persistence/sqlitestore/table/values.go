package table

import (
	"encoding/json/v2"
	"slices"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/state"
)

// word reads an enum; what is not among the words is the first of them, as in a document.
func word[E ~string](k *sqlite.Cursor, i int, words ...E) E {
	if w, ok := known(k, i, words); ok {
		return w
	}
	return words[0]
}

// strict reads an enum that has no default.
func strict[E ~string](k *sqlite.Cursor, i int, words ...E) E {
	w, ok := known(k, i, words)
	if !ok {
		k.Wrong("%v is no known word", k.Raw(i))
	}
	return w
}

// known reads one of the words, which stands there as text or as its code.
func known[E ~string](k *sqlite.Cursor, i int, words []E) (E, bool) {
	if n, ok := k.Raw(i).(int64); ok && n >= wordCode && n < wordCode+int64(len(words)) {
		return words[n-wordCode], true
	}
	text := E(k.Text(i))
	return text, slices.Contains(words, text)
}

// object reads an optional object.
func object(k *sqlite.Cursor, i int) state.Object {
	if k.Null(i) || !k.OK() {
		return state.Object{}
	}
	raw := k.Text(i)
	if raw == "{}" {
		return state.EmptyObject()
	}
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		o, err = deepObject(raw)
	}
	if err != nil {
		k.Fail(sqlite.Corrupt(k.Path(), err))
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
func value(k *sqlite.Cursor, i int) state.Value {
	raw := k.Text(i)
	if raw == "{}" || !k.OK() {
		return state.EmptyObject().Value
	}
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		var call state.Call
		err = json.Unmarshal([]byte(`{"arguments":`+raw+`}`), &call)
		v = call.Arguments
	}
	if err != nil {
		k.Fail(sqlite.Corrupt(k.Path(), err))
	}
	return v
}
