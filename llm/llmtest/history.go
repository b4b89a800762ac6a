package llmtest

import (
	"encoding/json/v2"
	"fmt"

	"pgregory.net/rapid"

	"simplex/state"
)

// History draws a conversation as it may come from a file: a document that the loader
// and the structure rules accept, with everything in it that other programs, other
// providers and older versions may have left there.
func History(t *rapid.T) *state.State {
	raw, err := json.Marshal(document(t), json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	st, err := state.Decode(raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	if err := state.Check(st); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return st
}

// Step draws a step that a file may hold.
func Step(t *rapid.T) *state.Step {
	st := &state.Step{}
	raw, err := json.Marshal(step(t), json.Deterministic(true))
	if err == nil {
		err = json.Unmarshal(raw, st)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return st
}

type dict = map[string]any

func document(t *rapid.T) dict {
	var turns, sections []any
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		turns = append(turns, turn(t))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "sections") {
		sections = append(sections, dict{"name": fmt.Sprint("s", i), "title": "T", "text": text(t)})
	}
	return dict{
		"meta": dict{"session_id": "s"}, "turns": turns,
		"tools":         []any{dict{"name": "f", "argument_schema": dict{"type": "object"}, "later": true}},
		"system_prompt": dict{"heading_level": 2, "sections": append([]any{}, sections...)},
		"extras":        dict{"external_status": dict{}},
	}
}

func turn(t *rapid.T) dict {
	input := dict{"type": "user_input", "content": content(t)}
	role(t, input)
	steps := []any{}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		steps = append(steps, step(t))
	}
	return dict{"user_input": input, "agent_loop_step": steps}
}

func step(t *rapid.T) dict {
	m := dict{"type": "model_response", "content": content(t), "extras": responseExtras(t)}
	role(t, m)
	if rapid.Bool().Draw(t, "thinks") {
		thought := text(t)
		m["reasoning"] = dict{"type": "text", "raw": thought, "modality": "text", "extras": dict{"items": items(t, "reasoning", "summary", dict{"type": "summary_text", "text": thought})}}
	}
	var calls, results []any
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		c := call(t)
		calls = append(calls, c)
		settled := dict{"id": c["id"], "name": c["name"], "type": "serial_write", "security": "trusted"}
		result := dict{"type": "invoke_return", "content": content(t), "invoke_return": dict{
			"query": settled, "output": dict{"type": "text", "raw": text(t), "modality": "text"},
		}}
		role(t, result)
		results = append(results, result)
	}
	out := dict{"model_response": m}
	if len(calls) > 0 {
		m["invokes"], out["invoke_returns"] = calls, results
	}
	return out
}

func call(t *rapid.T) dict {
	c := dict{
		"id":        rapid.SampledFrom([]string{"", "t:0", "t:1", "t:0~2", "call", "call~2"}).Draw(t, "id"),
		"name":      rapid.SampledFrom([]string{"f", "Run Command", "", "ns.tool/ä", "run_command"}).Draw(t, "name"),
		"arguments": rapid.SampledFrom([]any{dict{}, dict{"a": 1}, `{"a`, "", nil, []any{1}, 4.5, true, `{"a":1}`}).Draw(t, "arguments"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "made by") {
	case 0:
		c["extras"] = dict{"index": 0, "type": "function"}
	case 1:
		c["extras"] = dict{
			"type": "function_call", "id": itemID(t), "call_id": text(t), "name": text(t), "status": "completed",
			"arguments": rapid.SampledFrom([]any{`{}`, `{"a": 1}`, `{"a`, nil}).Draw(t, "sent"),
		}
	case 2:
		c["extras"] = dict{"type": 5, "id": "x", "more": []any{}}
	}
	return c
}

func responseExtras(t *rapid.T) dict {
	said := rapid.SampledFrom([]any{
		dict{"type": "output_text", "text": text(t)}, dict{"type": "refusal", "refusal": "no"}, dict{}, "x",
	}).Draw(t, "said")
	return dict{
		"output_items": items(t, "message", "content", said),
		"output_order": rapid.SampledFrom([]any{nil, 5, []any{"message", "reasoning"}, []any{"function_call", "message"}, []any{"function_call", "reasoning", "function_call"}}).Draw(t, "order"),
	}
}

// items gives what an adapter captured, or junk in its place.
func items(t *rapid.T, kind, list string, part any) any {
	item := dict{"type": kind, "id": itemID(t), "role": "assistant", list: []any{part}}
	return rapid.SampledFrom([]any{nil, 5, []any{}, []any{1, dict{}}, []any{item}, []any{item}, []any{item, item}}).Draw(t, "items")
}

func itemID(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "i1", "i2", "i3"}).Draw(t, "item id")
}

// content gives a message's content in one of the forms that readers accept.
func content(t *rapid.T) any {
	one := dict{"type": "text", "raw": text(t), "modality": "text"}
	old := dict{"type": "text", "raw": text(t)} // before modalities
	refusal := dict{"raw": text(t), "modality": "text", "extras": dict{"refusal": "I may not"}}
	return rapid.SampledFrom([]any{nil, []any{}, one, []any{one}, []any{one, old}, []any{refusal}, []any{old}}).Draw(t, "content")
}

func text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "two\nlines", "\x00\u2028", "\U0001F600", `"]}`}).Draw(t, "text")
}

func role(t *rapid.T, m dict) {
	if r := rapid.SampledFrom([]string{"-", "", "user", "assistant", "tool", "model", "USER"}).Draw(t, "role"); r != "-" {
		m["role"] = r
	}
}
