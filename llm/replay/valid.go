package replay

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"

	"simplex/llm"
	"simplex/state"
)

// AppendText writes s as a JSON string. Bytes that are no UTF-8 become U+FFFD: the
// error that tells so is of no use here, a body must always be valid.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// SentArguments gives arguments as the text of a JSON object. What the model sent as
// something else is wrapped, so that no server refuses the conversation for ever.
func SentArguments(v state.Value) string {
	switch {
	case v.IsNull():
		return "{}"
	case v.Kind() == '{':
		return v.String()
	}
	return state.ObjectFrom([]state.Member{{Name: "raw", Value: v}}).String()
}

// ReceivedArguments keeps what the model sent: nothing as {}, valid JSON as it is, and
// anything else as a string.
func ReceivedArguments(raw []byte) state.Value {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return state.EmptyObject().Value
	}
	v, err := state.ParseValue(raw)
	if err != nil {
		return state.StringValue(string(raw))
	}
	return v
}

// maxName is the longest tool name that servers take, in bytes.
const maxName = 64

// SentName gives a tool's name as servers take it: letters, digits, `_` and `-`, at
// most 64 of them. A model may have called a tool that no server would let it offer.
func SentName(name string) string {
	if name == "" {
		return "unnamed"
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return safe[:min(len(safe), maxName)]
}

// Pair puts the results into the order of their calls: by position where the counts
// agree and no id says otherwise, else by id, each result used once.
func Pair(calls []state.Call, results []*state.Message) ([]*state.Message, error) {
	if len(calls) != len(results) {
		return nil, fmt.Errorf("%w: %d calls, %d results", llm.ErrUnpairedCall, len(calls), len(results))
	}
	inOrder := true
	for i, r := range results {
		if r == nil {
			return nil, fmt.Errorf("%w: result %d is missing", llm.ErrUnpairedCall, i)
		}
		id := answeredID(r)
		inOrder = inOrder && (id == "" || id == calls[i].ID)
	}
	if inOrder {
		return results, nil
	}
	rest := slices.Clone(results)
	out := make([]*state.Message, len(calls))
	for i, c := range calls {
		at := slices.IndexFunc(rest, func(r *state.Message) bool { return r != nil && answeredID(r) == c.ID })
		if at < 0 {
			return nil, fmt.Errorf("%w: call %q has no result", llm.ErrUnpairedCall, c.ID)
		}
		out[i], rest[at] = rest[at], nil
	}
	return out, nil
}

func answeredID(m *state.Message) string {
	if m.Result == nil {
		return ""
	}
	return m.Result.Call.ID
}
