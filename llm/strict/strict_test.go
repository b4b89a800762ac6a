package strict_test

import (
	"strings"
	"testing"

	"simplex/llm/strict"
)

// TestChat: each row is refused by some server, and so by this one.
func TestChat(t *testing.T) {
	t.Parallel()
	const (
		user   = `{"role":"user","content":"u"}`
		asks   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		result = `{"role":"tool","content":"r","tool_call_id":"c"}`
	)
	body := func(messages ...string) []byte {
		return []byte(`{"model":"m","stream":true,"messages":[` + strings.Join(messages, ",") + `]}`)
	}
	if err := strict.Chat(body(`{"role":"system","content":"s"}`, user, asks, result, `{"role":"assistant","content":"a"}`, user)); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string][]byte{
		"no JSON":            []byte(`{`),
		"no UTF-8":           body(`{"role":"user","content":"` + "\xff" + `"}`),
		"no messages":        body(),
		"a key twice":        []byte(`{"model":"m","model":"m","stream":true,"messages":[` + user + `]}`),
		"unknown role":       body(`{"role":"model","content":"u"}`),
		"system later":       body(user, `{"role":"system","content":"s"}`),
		"no result":          body(user, asks, user),
		"no result at last":  body(user, asks),
		"result alone":       body(user, result),
		"result twice":       body(user, asks, result, result),
		"id twice":           body(user, asks, result, asks, result),
		"open arguments":     body(user, strings.Replace(asks, `"{}"`, `"{"`, 1), result),
		"arguments a list":   body(user, strings.Replace(asks, `"{}"`, `"[]"`, 1), result),
		"a name with blanks": body(user, strings.Replace(asks, `"f"`, `"f g"`, 1), result),
		"empty content":      body(user, `{"role":"assistant","content":""}`),
		"no content":         body(user, `{"role":"assistant"}`),
		"says nothing":       body(user, `{"role":"assistant","content":null}`),
	} {
		if strict.Chat(bad) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestResponses is the same for the other protocol.
func TestResponses(t *testing.T) {
	t.Parallel()
	const (
		user   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]}`
		thinks = `{"type":"reasoning","id":"rs","summary":[]}`
		asks   = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
		result = `{"type":"function_call_output","call_id":"c","output":"r"}`
		says   = `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"a"}]}`
	)
	body := func(items ...string) []byte {
		return []byte(`{"model":"m","stream":true,"store":false,"input":[` + strings.Join(items, ",") + `]}`)
	}
	if err := strict.Responses(body(user, thinks, says, asks, result, user)); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string][]byte{
		"no JSON":             []byte(`{`),
		"no items":            body(),
		"stored by default":   []byte(`{"model":"m","stream":true,"input":[` + user + `]}`),
		"unknown kind":        body(user, `{"type":"thought"}`),
		"unknown role":        body(`{"type":"message","role":"tool","content":[{"type":"input_text","text":"u"}]}`),
		"no parts":            body(`{"type":"message","role":"user","content":[]}`),
		"parts of the other":  body(`{"type":"message","role":"user","content":[{"type":"output_text","text":"u"}]}`),
		"an empty answer":     body(user, strings.Replace(says, `"a"`, `""`, 1)),
		"reasoning at last":   body(user, says, thinks),
		"reasoning, user":     body(user, thinks, user),
		"reasoning, result":   body(user, asks, thinks, result),
		"an item twice":       body(user, says, says),
		"no result":           body(user, asks, user),
		"no result at last":   body(user, asks),
		"result alone":        body(user, result),
		"calls between":       body(user, asks, strings.Replace(asks, `"c"`, `"d"`, 1), result, says),
		"id twice":            body(user, asks, result, asks, result),
		"open arguments":      body(user, strings.Replace(asks, `"{}"`, `"{"`, 1), result),
		"output of no kind":   body(user, asks, strings.Replace(result, `"r"`, `5`, 1)),
		"no name":             body(user, strings.Replace(asks, `"f"`, `""`, 1), result),
		"results out of line": body(user, asks, strings.Replace(asks, `"c"`, `"d"`, 1), strings.Replace(result, `"c"`, `"d"`, 1), result),
	} {
		if strict.Responses(bad) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
