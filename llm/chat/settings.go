package chat

import (
	"encoding/json/jsontext"
	"fmt"

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
	if effort, ok := effortIn(body); ok {
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

// effortIn gives reasoning.effort.
func effortIn(settings state.Object) (state.Value, bool) {
	v, _ := settings.Get("reasoning")
	reasoning, err := v.Object()
	if err != nil {
		return state.Value{}, false
	}
	effort, ok := reasoning.Get("effort")
	return effort, ok && !effort.IsNull()
}

func literal(raw string) state.Value {
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		panic("chat: literal " + raw + ": " + err.Error())
	}
	return v
}

// appendHead writes the body up to the first message.
func appendHead(dst []byte, settings state.Object, tools []state.Tool) ([]byte, error) {
	dst = append(dst, '{')
	for _, m := range settings.Members() {
		dst = appendText(dst, m.Name)
		dst = append(dst, ':')
		dst = append(append(dst, m.Value.String()...), ',')
	}
	if len(tools) > 0 {
		dst = append(dst, `"tools":[`...)
		for i, tool := range tools {
			if tool.Name == "" {
				return nil, fmt.Errorf("tool %d has no name", i)
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendTool(dst, tool)
		}
		dst = append(dst, `],`...)
	}
	return append(dst, `"messages":[`...), nil
}

func appendTool(dst []byte, tool state.Tool) []byte {
	dst = append(dst, `{"type":"function","function":{"name":`...)
	dst = appendText(dst, tool.Name)
	if tool.Description != "" {
		dst = append(dst, `,"description":`...)
		dst = appendText(dst, tool.Description)
	}
	dst = append(dst, `,"parameters":`...)
	if schema := tool.ArgumentSchema; schema.IsSet() {
		dst = append(dst, schema.String()...)
	} else {
		dst = append(dst, `{}`...)
	}
	return append(dst, `}}`...)
}

// appendText writes s as a JSON string. Bytes that are no UTF-8 become U+FFFD: the
// error that tells so is of no use here, a body must always be valid.
func appendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
