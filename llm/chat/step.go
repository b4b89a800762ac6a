package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm/replay"
	"simplex/state"
)

var errNoResponse = errors.New("no model response")

// Step implements replay.Form: a model response and the results of its calls, in call
// order.
func (f *form) Step(dst []byte, step *state.Step, ids *replay.IDs) ([]byte, error) {
	if step == nil || step.ModelResponse == nil {
		return nil, errNoResponse
	}
	m := step.ModelResponse
	sent := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		sent[i] = ids.Take(c.ID)
	}
	dst, err := f.assistant(dst, m, sent)
	if err != nil {
		return nil, fmt.Errorf("model response: %w", err)
	}
	results, err := replay.Pair(m.Calls, step.Returns)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if dst, err = appendResult(dst, r, sent[i]); err != nil {
			return nil, fmt.Errorf("result of call %q: %w", sent[i], err)
		}
	}
	return dst, nil
}

// assistant writes a model response. One that says nothing at all is left out: some
// servers refuse it.
func (f *form) assistant(dst []byte, m *state.Message, ids []string) ([]byte, error) {
	text, err := replay.Text(m.Content)
	if err != nil {
		return nil, err
	}
	var reasoning string
	if m.Reasoning != nil {
		if reasoning, err = replay.Text([]state.Content{*m.Reasoning}); err != nil {
			return nil, fmt.Errorf("reasoning: %w", err)
		}
	}
	refusal := replay.Refusal(m)
	if text == "" && refusal == "" && len(ids) == 0 {
		return dst, nil
	}
	dst = append(dst, `,{"role":"`+openai.ChatMessageRoleAssistant+`","content":`...)
	if text == "" {
		dst = append(dst, `null`...)
	} else {
		dst = replay.AppendText(dst, text)
	}
	dst = appendMember(dst, "refusal", refusal)
	if f.reasoning {
		dst = appendMember(dst, "reasoning_content", reasoning)
	}
	if len(ids) > 0 {
		if dst, err = appendCalls(dst, m.Calls, ids); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendMember(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return replay.AppendText(append(dst, `,"`+name+`":`...), text)
}

func appendCalls(dst []byte, calls []state.Call, ids []string) ([]byte, error) {
	out := make([]openai.ToolCall, len(calls))
	for i, c := range calls {
		out[i] = openai.ToolCall{
			ID: ids[i], Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: replay.SentName(c.Name), Arguments: replay.SentArguments(c.Arguments)},
		}
	}
	raw, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	return append(append(dst, `,"tool_calls":`...), raw...), nil
}

func appendResult(dst []byte, m *state.Message, id string) ([]byte, error) {
	text, err := replay.Text(replay.Output(m))
	if err != nil {
		return nil, err
	}
	dst = append(dst, `,{"role":"`+openai.ChatMessageRoleTool+`","content":`...)
	dst = replay.AppendText(dst, text)
	dst = append(dst, `,"tool_call_id":`...)
	return append(replay.AppendText(dst, id), '}'), nil
}
