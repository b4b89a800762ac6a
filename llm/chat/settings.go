package chat

import (
	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

// requestSettings is the part of a body that is neither tools nor messages: what the
// configuration says, overridden by what streaming needs, changed by the dialect.
func requestSettings(settings state.Object, d Dialect) (state.Object, error) {
	body := settings.Without("messages").Without("tools")
	body = body.With("stream", literal("true")).With("n", literal("1"))
	options, _ := body.Get("stream_options")
	siblings, err := options.Object()
	if err != nil {
		siblings = state.EmptyObject()
	}
	body = body.With("stream_options", siblings.With("include_usage", literal("true")).Value)
	if effort, ok := llm.EffortIn(body); ok {
		if top, set := body.Get("reasoning_effort"); !set || top.IsNull() {
			body = body.With("reasoning_effort", effort)
		}
	}
	if reasoning, _ := body.Get("reasoning"); reasoning.Kind() == '{' {
		body = body.Without("reasoning")
	}
	if d.Transform == nil {
		return body, nil
	}
	return d.Transform(body)
}

func literal(raw string) state.Value {
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		panic("chat: literal " + raw + ": " + err.Error())
	}
	return v
}

func appendTool(dst []byte, tool state.Tool) []byte {
	dst = replay.AppendFunction(append(dst, `{"type":"function","function":{`...), tool)
	return append(dst, `}}`...)
}
