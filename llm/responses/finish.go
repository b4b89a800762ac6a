package responses

import (
	"errors"
	"fmt"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/llm/replay"
	"simplex/state"
)

var errNoName = errors.New("a tool call has no name")

// finish judges the terminal event (§6.6). The response's own status counts before the
// event's name.
func (a *answer) finish(s *post.Stream, kind string, response state.Object) error {
	if status, _ := replay.Member(response, "status"); status != "" && status != "in_progress" {
		kind = "response." + status
	}
	switch kind {
	case "response.completed":
		return a.complete(response)
	case "response.failed":
		fault, _ := response.Get("error")
		if fault.IsNull() {
			return &llm.Error{Stage: llm.StageProvider, Message: "the response failed without a reason"}
		}
		return s.ProviderError(fault.Bytes())
	case "response.incomplete":
		details, _ := response.Get("incomplete_details")
		object, _ := details.Object()
		reason, _ := replay.Member(object, "reason")
		return &llm.Error{Stage: llm.StageFinish, Code: reason, Message: incompleteWords(reason)}
	}
	return &llm.Error{Stage: llm.StageFinish, Code: kind[len("response."):], Message: "the provider ended it"}
}

func incompleteWords(reason string) string {
	switch reason {
	case "max_output_tokens":
		return "it was cut by the limit on tokens; nothing of it was run"
	case "content_filter":
		return "the provider's content filter stopped it"
	}
	return "the reason is unknown to this program"
}

// complete settles which items the answer has: those of the terminal event, unless the
// stream has finished more of them (some servers leave the list empty at the end).
func (a *answer) complete(response state.Object) error {
	if id, _ := replay.Member(response, "id"); id != "" {
		a.id = id
	}
	a.usage, _ = response.Get("usage")
	listed, _ := response.Get("output")
	if items := objects(listed); len(items) >= len(a.items) && len(items) > 0 {
		a.items, a.open = items, 0
	}
	if a.open > 0 {
		return truncated()
	}
	if len(a.items) > 0 {
		return nil
	}
	if len(a.thought) > 0 {
		a.items = append(a.items, item(kindReasoning, "summary", part("summary_text", "text", string(a.thought))))
	}
	if len(a.text) > 0 {
		said := item(kindMessage, "content", part("output_text", "text", string(a.text)))
		a.items = append(a.items, said.With("role", state.StringValue("assistant")))
	}
	return nil
}

// Message makes the response out of a complete answer.
func (a *answer) Message(ids *replay.IDs, exchangeID string) (*state.Message, error) {
	m := &state.Message{Type: state.ModelResponse, Role: "assistant", Cost: cost(a.usage)}
	var reasoning, said []state.Object
	var kinds []string
	for _, item := range a.items {
		kind, _ := replay.Member(item, "type")
		switch kind {
		case kindReasoning:
			reasoning = append(reasoning, item)
		case kindMessage:
			said = append(said, item)
		case kindCall:
			c, err := call(item, ids)
			if err != nil {
				return nil, &llm.Error{Stage: llm.StageAssembly, Err: fmt.Errorf("%w: call %d", err, len(m.Calls))}
			}
			m.Calls = append(m.Calls, c)
		default:
			continue
		}
		kinds = append(kinds, kind)
	}
	m.CallsSet = len(m.Calls) > 0
	m.Content = content(said)
	if len(reasoning) > 0 {
		c := state.TextContent(reasoningText(reasoning))
		c.Extras = state.EmptyObject().With("items", list(reasoning))
		m.Reasoning = &c
	}
	m.Extras = a.extras(said, kinds, exchangeID)
	return m, nil
}

func content(said []state.Object) []state.Content {
	text, refusal := messageText(said)
	if text == "" && refusal == "" {
		return nil
	}
	c := state.TextContent(text)
	if refusal != "" {
		c.Extras = state.EmptyObject().With("refusal", state.StringValue(refusal))
	}
	return []state.Content{c}
}

// call reads a function_call item. Its arguments are a string or, from some servers,
// the object itself.
func call(item state.Object, ids *replay.IDs) (state.Call, error) {
	name, _ := replay.Member(item, "name")
	if name == "" {
		return state.Call{}, errNoName
	}
	id, _ := replay.Member(item, "call_id")
	if id == "" {
		id, _ = replay.Member(item, "id")
	}
	arguments, _ := item.Get("arguments")
	if text, isText := arguments.Text(); isText {
		arguments = replay.ReceivedArguments([]byte(text))
	} else if arguments.IsNull() {
		arguments = state.EmptyObject().Value
	}
	return state.Call{
		Type: state.ReadOnly, Security: state.DefaultDeny,
		ID: ids.Take(id), Name: name, Arguments: arguments, Extras: item,
	}, nil
}

// extras is what §1.8 keeps of the exchange, and the order of the items where it is
// not the usual one.
func (a *answer) extras(said []state.Object, kinds []string, exchangeID string) state.Object {
	out := state.EmptyObject().With("exchange_id", state.StringValue(exchangeID))
	if a.id != "" {
		out = out.With("response_id", state.StringValue(a.id))
	}
	if !a.usage.IsNull() {
		out = out.With("usage", a.usage)
	}
	if len(said) > 0 {
		out = out.With("output_items", list(said))
	}
	rank := map[string]int{kindReasoning: 0, kindMessage: 1, kindCall: 2}
	for i := 1; i < len(kinds); i++ {
		if rank[kinds[i]] < rank[kinds[i-1]] {
			order, _ := state.ValueOf(kinds) // strings always encode
			return out.With("output_order", order)
		}
	}
	return out
}

func list(items []state.Object) state.Value {
	v, _ := state.ValueOf(items) // valid objects always encode
	return v
}

// cost reads usage; nil when it says nothing that can be used.
func cost(usage state.Value) *state.TokenCost {
	var said struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details *struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	}
	if usage.IsNull() || usage.Decode(&said) != nil || !llm.SaneUsage(said.Input, said.Output) {
		return nil
	}
	var hits int64
	if said.Details != nil {
		// A cached token is a prompt token: more of them than that is a server's mistake.
		hits = min(max(said.Details.Cached, 0), said.Input)
	}
	return &state.TokenCost{Prompt: uint64(said.Input), Generated: uint64(said.Output), CacheHit: uint64(hits)}
}
