package responses

import (
	"errors"
	"fmt"
	"strings"

	"simplex/llm/replay"
	"simplex/state"
)

// Kinds of items.
const (
	kindReasoning = "reasoning"
	kindMessage   = "message"
	kindCall      = "function_call"
)

var errNoResponse = errors.New("no model response")

// Step implements replay.Form: what the model made, in the order in which it made it,
// and the results of its calls in call order.
func (form) Step(dst []byte, step *state.Step, ids *replay.IDs) ([]byte, error) {
	if step == nil || step.ModelResponse == nil {
		return nil, errNoResponse
	}
	m := step.ModelResponse
	results, err := replay.Pair(m.Calls, step.Returns)
	if err != nil {
		return nil, err
	}
	sent := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		sent[i] = ids.Take(c.ID)
	}
	items, err := responseItems(m, sent, ids)
	if err != nil {
		return nil, fmt.Errorf("model response: %w", err)
	}
	for _, item := range items {
		dst = append(append(dst, ','), item.String()...)
	}
	for i, r := range results {
		if dst, err = appendResult(dst, r, sent[i]); err != nil {
			return nil, fmt.Errorf("result of call %q: %w", sent[i], err)
		}
	}
	return dst, nil
}

// responseItems gives the items of a model response. One that neither says nor calls
// anything is left out: reasoning alone is refused by servers.
func responseItems(m *state.Message, sent []string, ids *replay.IDs) ([]state.Object, error) {
	text, err := replay.Text(m.Content)
	if err != nil {
		return nil, err
	}
	reasoning, err := reasoningItems(m.Reasoning)
	if err != nil {
		return nil, fmt.Errorf("reasoning: %w", err)
	}
	queues := map[string][]state.Object{kindReasoning: reasoning, kindMessage: messageItems(m, text)}
	for i, c := range m.Calls {
		queues[kindCall] = append(queues[kindCall], callItem(c, sent[i]))
	}
	if len(queues[kindMessage])+len(m.Calls) == 0 {
		return nil, nil
	}
	var out []state.Object
	for _, kind := range order(m, queues) {
		item := queues[kind][0]
		queues[kind] = queues[kind][1:]
		if item, ok := once(item, ids); ok {
			out = append(out, item)
		}
	}
	return withoutTrailingReasoning(out), nil
}

// withoutTrailingReasoning drops reasoning that led to nothing: servers refuse it.
func withoutTrailingReasoning(items []state.Object) []state.Object {
	for len(items) > 0 {
		if kind, _ := replay.Member(items[len(items)-1], "type"); kind != kindReasoning {
			break
		}
		items = items[:len(items)-1]
	}
	return items
}

// order tells which kind of item comes when: as the model made them, where that is
// known and still true, else reasoning, text, calls.
func order(m *state.Message, queues map[string][]state.Object) []string {
	var made, usual []string
	for _, kind := range []string{kindReasoning, kindMessage, kindCall} {
		for range queues[kind] {
			usual = append(usual, kind)
		}
	}
	left := map[string]int{}
	given, _ := m.Extras.Get("output_order")
	kinds, _ := given.Items()
	for _, v := range kinds {
		kind, _ := v.Text()
		made = append(made, kind)
		left[kind]++
	}
	for kind, n := range left {
		if n != len(queues[kind]) {
			return usual
		}
	}
	if len(made) != len(usual) {
		return usual
	}
	return made
}

// once drops what cannot be sent twice: the id of an item that was sent before, and
// reasoning that was sent before.
func once(item state.Object, ids *replay.IDs) (state.Object, bool) {
	id, _ := replay.Member(item, "id")
	if ids.Claim(id) {
		return item, true
	}
	if kind, _ := replay.Member(item, "type"); kind == kindReasoning {
		return item, false
	}
	return item.Without("id"), true
}

// captured gives the items of one kind that an extras member holds.
func captured(extras state.Object, name, kind string) []state.Object {
	given, _ := extras.Get(name)
	values, _ := given.Items()
	var out []state.Object
	for _, v := range values {
		item, err := v.Object()
		if got, _ := replay.Member(item, "type"); err == nil && got == kind {
			out = append(out, item)
		}
	}
	return out
}

func reasoningItems(c *state.Content) ([]state.Object, error) {
	if c == nil {
		return nil, nil
	}
	text, err := replay.Text([]state.Content{*c})
	if err != nil {
		return nil, err
	}
	if items := captured(c.Extras, "items", kindReasoning); len(items) > 0 && reasoningText(items) == text {
		return items, nil
	}
	if text == "" {
		return nil, nil
	}
	return []state.Object{item(kindReasoning, "summary", part("summary_text", "text", text))}, nil
}

// messageItems gives the captured items if they still say what the record says.
func messageItems(m *state.Message, text string) []state.Object {
	refusal := replay.Refusal(m)
	if text == "" && refusal == "" {
		return nil
	}
	items := captured(m.Extras, "output_items", kindMessage)
	if saidText, saidRefusal := messageText(items); len(items) > 0 && saidText == text && saidRefusal == refusal {
		return items
	}
	var parts []state.Object
	if text != "" {
		parts = append(parts, part("output_text", "text", text))
	}
	if refusal != "" {
		parts = append(parts, part("refusal", "refusal", refusal))
	}
	return []state.Object{item(kindMessage, "content", parts...).With("role", state.StringValue("assistant"))}
}

// item makes an item with one member that is a list of parts.
func item(kind, name string, parts ...state.Object) state.Object {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.String()
	}
	// Objects joined like this are a list.
	list, _ := state.ParseValue([]byte("[" + strings.Join(texts, ",") + "]"))
	return state.ObjectFrom([]state.Member{{Name: "type", Value: state.StringValue(kind)}, {Name: name, Value: list}})
}

// callItem gives the captured item under the id that the conversation knows the call
// by; what the record says counts before it.
func callItem(c state.Call, id string) state.Object {
	out := c.Extras
	if kind, _ := replay.Member(out, "type"); kind != kindCall {
		out = state.ObjectFrom([]state.Member{{Name: "type", Value: state.StringValue(kindCall)}})
	}
	out = out.With("call_id", state.StringValue(id)).With("name", state.StringValue(replay.SentName(c.Name)))
	if text, isText := replay.Member(out, "arguments"); isText {
		if v, err := state.ParseValue([]byte(text)); err == nil && v == c.Arguments && v.Kind() == '{' {
			return out
		}
	}
	return out.With("arguments", state.StringValue(replay.SentArguments(c.Arguments)))
}

// appendResult writes a result: text as a string, anything else as parts.
func appendResult(dst []byte, m *state.Message, id string) ([]byte, error) {
	dst = append(dst, `,{"type":"function_call_output","call_id":`...)
	dst = append(replay.AppendText(dst, id), `,"output":`...)
	parts := replay.Output(m)
	if text, err := replay.Text(parts); err == nil {
		return append(replay.AppendText(dst, text), '}'), nil
	}
	dst, err := appendParts(dst, parts)
	return append(dst, '}'), err
}
