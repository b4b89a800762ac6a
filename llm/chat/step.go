package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
	"simplex/state"
)

// appendStep writes a model response and the results of its calls, in call order.
func (e *encoder) appendStep(step *state.Step) error {
	if step == nil || step.ModelResponse == nil {
		return fmt.Errorf("no model response")
	}
	m := step.ModelResponse
	ids := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		ids[i] = e.ids.take(c.ID)
	}
	if err := e.appendAssistant(m, ids); err != nil {
		return fmt.Errorf("model response: %w", err)
	}
	results, err := pair(m.Calls, step.Returns)
	if err != nil {
		return err
	}
	for i, r := range results {
		if err := e.appendResult(r, ids[i]); err != nil {
			return fmt.Errorf("result of call %q: %w", ids[i], err)
		}
	}
	return nil
}

// appendAssistant writes a model response. One that says nothing at all is left out:
// some servers refuse it.
func (e *encoder) appendAssistant(m *state.Message, ids []string) error {
	text, err := plain(m.Content)
	if err != nil {
		return err
	}
	refusal := refusalOf(m)
	if text == "" && refusal == "" && len(ids) == 0 {
		return nil
	}
	e.msgs = append(e.msgs, `,{"role":`...)
	e.msgs = appendText(e.msgs, roleOr(m, openai.ChatMessageRoleAssistant))
	e.msgs = append(e.msgs, `,"content":`...)
	if text == "" {
		e.msgs = append(e.msgs, `null`...)
	} else {
		e.msgs = appendText(e.msgs, text)
	}
	e.appendMember("refusal", refusal)
	if m.Reasoning != nil {
		reasoning, err := plain([]state.Content{*m.Reasoning})
		if err != nil {
			return fmt.Errorf("reasoning: %w", err)
		}
		if e.replay {
			e.appendMember("reasoning_content", reasoning)
		}
	}
	if len(ids) > 0 {
		if err := e.appendCalls(m.Calls, ids); err != nil {
			return err
		}
	}
	e.msgs = append(e.msgs, '}')
	return nil
}

func (e *encoder) appendMember(name, text string) {
	if text == "" {
		return
	}
	e.msgs = append(e.msgs, `,"`+name+`":`...)
	e.msgs = appendText(e.msgs, text)
}

func (e *encoder) appendCalls(calls []state.Call, ids []string) error {
	out := make([]openai.ToolCall, len(calls))
	for i, c := range calls {
		out[i] = openai.ToolCall{
			ID: ids[i], Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: sentArguments(c.Arguments)},
		}
	}
	raw, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	e.msgs = append(append(e.msgs, `,"tool_calls":`...), raw...)
	return nil
}

// sentArguments gives arguments as the text of a JSON object. What the model sent as
// something else is wrapped, so that no server refuses the conversation for ever.
func sentArguments(v state.Value) string {
	switch {
	case v.IsNull():
		return "{}"
	case v.Kind() == '{':
		return v.String()
	}
	return state.ObjectFrom([]state.Member{{Name: "raw", Value: v}}).String()
}

func (e *encoder) appendResult(m *state.Message, id string) error {
	text, err := plain(m.Content)
	if err != nil {
		return err
	}
	if text == "" && m.Result != nil {
		if text, err = plain([]state.Content{m.Result.Output}); err != nil {
			return err
		}
	}
	e.msgs = append(e.msgs, `,{"role":`...)
	e.msgs = appendText(e.msgs, roleOr(m, openai.ChatMessageRoleTool))
	e.msgs = append(e.msgs, `,"content":`...)
	e.msgs = appendText(e.msgs, text)
	e.msgs = append(e.msgs, `,"tool_call_id":`...)
	e.msgs = appendText(e.msgs, id)
	e.msgs = append(e.msgs, '}')
	return nil
}

// pair puts the results into the order of their calls: by position where the counts
// agree and no id says otherwise, else by id, each result used once.
func pair(calls []state.Call, results []*state.Message) ([]*state.Message, error) {
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

// plain joins the text of parts; other media have no place in these messages.
func plain(parts []state.Content) (string, error) {
	if len(parts) == 1 && isPlain(parts[0]) {
		return parts[0].Raw, nil
	}
	var out strings.Builder
	for i, c := range parts {
		if !isPlain(c) {
			return "", fmt.Errorf("part %d: %w", i, unsupported(c))
		}
		out.WriteString(c.Raw)
	}
	return out.String(), nil
}

func isPlain(c state.Content) bool {
	return c.Modality == state.ModalityText && c.Type != state.TypeBinary
}

func refusalOf(m *state.Message) string {
	var out string
	for _, c := range m.Content {
		text, _ := member(c.Extras, "refusal")
		out += text
	}
	return out
}
