package protocol

import (
	"encoding/json/jsontext"
	"errors"
	"slices"
	"strconv"
)

// members says what is wrong with the set of names, "" if nothing: null counts as wrong,
// and an unknown name is not quoted, as it may be a misplaced secret.
func members(m map[string]jsontext.Value, may, must []string) string {
	for _, name := range must {
		if _, ok := m[name]; !ok {
			return name + ": missing"
		}
	}
	for _, name := range append(slices.Clone(may), must...) {
		if v, ok := m[name]; ok && v.Kind() == 'n' {
			return name + ": must not be null"
		}
	}
	for name := range m {
		if !slices.Contains(may, name) && !slices.Contains(must, name) {
			return "a member that this operation does not have"
		}
	}
	return ""
}

func object(v jsontext.Value) (map[string]jsontext.Value, error) {
	if v.Kind() != '{' {
		return nil, errors.New("must be an object")
	}
	return readObject(v)
}

func text(v jsontext.Value) (string, bool) {
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, v)
	return string(s), err == nil
}

// integer gives the digits of a JSON integer; 1.0 and 1e0 are none.
func integer(v jsontext.Value) (string, bool) {
	if v == nil || v.Kind() != '0' {
		return "", false
	}
	for i, c := range v {
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return "", false
		}
	}
	return string(v), true
}

func revision(v jsontext.Value) (uint64, bool) {
	digits, ok := integer(v)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
