package chat

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

var errNoName = errors.New("a tool call has no name")

// end judges an answer whose stream is over; done tells whether [DONE] was there.
func (a *answer) end(done bool) error {
	if a.finish == "" {
		if !done || !a.any || !a.callsWhole() {
			return &llm.Error{Stage: llm.StageRead, Err: llm.ErrTruncated, Transient: true}
		}
		a.finish = openai.FinishReasonStop
		if len(a.calls) > 0 {
			a.finish = openai.FinishReasonToolCalls
		}
	}
	switch a.finish {
	case openai.FinishReasonStop, openai.FinishReasonToolCalls, openai.FinishReasonFunctionCall:
		return nil
	}
	return &llm.Error{Stage: llm.StageFinish, Code: string(a.finish), Message: finishWords(a.finish)}
}

func finishWords(reason openai.FinishReason) string {
	switch reason {
	case openai.FinishReasonLength:
		return "it was cut by the limit on tokens; nothing of it was run"
	case openai.FinishReasonContentFilter:
		return "the provider's content filter stopped it"
	}
	return "the reason is unknown to this program"
}

func (a *answer) callsWhole() bool {
	for _, c := range a.calls {
		if args := bytes.TrimSpace(c.args); len(args) > 0 && !jsontext.Value(args).IsValid() {
			return false
		}
	}
	return true
}

// Message makes the response out of a complete answer.
func (a *answer) Message(ids *replay.IDs, exchangeID string) (*state.Message, error) {
	m := &state.Message{
		Type: state.ModelResponse, Role: openai.ChatMessageRoleAssistant,
		Content: a.content(), Extras: a.extras(exchangeID), Cost: cost(a.usage, a.cacheHits),
	}
	if len(a.reasoning) > 0 {
		reasoning := text(a.reasoning)
		m.Reasoning = &reasoning
	}
	for i, c := range a.calls {
		if c.name == "" {
			return nil, &llm.Error{Stage: llm.StageAssembly, Err: fmt.Errorf("%w: call %d", errNoName, i)}
		}
		index := max(c.index, 0)
		if c.index < 0 {
			index = i
		}
		m.Calls = append(m.Calls, state.Call{
			Type: state.ReadOnly, Security: state.DefaultDeny,
			ID: ids.Take(c.id), Name: c.name, Arguments: replay.ReceivedArguments(c.args),
			Extras: callExtras(index),
		})
	}
	m.CallsSet = len(m.Calls) > 0
	return m, nil
}

func text(raw []byte) state.Content {
	return state.Content{Type: state.TypeText, Raw: string(raw), Modality: state.ModalityText}
}

func (a *answer) content() []state.Content {
	if len(a.text)+len(a.refusal) == 0 {
		return nil
	}
	c := text(a.text)
	if len(a.refusal) > 0 {
		c.Extras = state.ObjectFrom([]state.Member{{Name: "refusal", Value: state.StringValue(string(a.refusal))}})
	}
	return []state.Content{c}
}

func callExtras(index int) state.Object {
	return state.ObjectFrom([]state.Member{
		{Name: "index", Value: literal(fmt.Sprint(index))},
		{Name: "type", Value: state.StringValue(string(openai.ToolTypeFunction))},
	})
}

// extras is what §1.8 keeps of the exchange.
func (a *answer) extras(exchangeID string) state.Object {
	members := []state.Member{
		{Name: "exchange_id", Value: state.StringValue(exchangeID)},
		{Name: "finish_reason", Value: state.StringValue(string(a.finish))},
	}
	if a.id != "" {
		members = append(members, state.Member{Name: "completion_id", Value: state.StringValue(a.id)})
	}
	if a.model != "" {
		members = append(members, state.Member{Name: "model", Value: state.StringValue(a.model)})
	}
	if usage, err := state.ParseValue(a.usage); err == nil {
		members = append(members, state.Member{Name: "usage", Value: usage})
	}
	return state.ObjectFrom(members)
}

// cost reads usage; nil when it says nothing that can be used.
func cost(raw jsontext.Value, cacheHits string) *state.TokenCost {
	var usage openai.Usage
	if len(raw) == 0 || json.Unmarshal(raw, &usage) != nil {
		return nil
	}
	if !llm.SaneUsage(int64(usage.PromptTokens), int64(usage.CompletionTokens)) {
		return nil
	}
	hits := 0
	if usage.PromptTokensDetails != nil {
		hits = usage.PromptTokensDetails.CachedTokens
	}
	if hits == 0 && cacheHits != "" {
		var all map[string]jsontext.Value
		if json.Unmarshal(raw, &all) == nil {
			_ = json.Unmarshal(all[cacheHits], &hits)
		}
	}
	// A cached token is a prompt token: more of them than that is a server's mistake.
	hits = min(max(hits, 0), usage.PromptTokens)
	return &state.TokenCost{Prompt: uint64(usage.PromptTokens), Generated: uint64(usage.CompletionTokens), CacheHit: uint64(hits)}
}
