package responses

import (
	"fmt"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

// encrypted asks for reasoning in a form that can be sent back without being stored.
const encrypted = "reasoning.encrypted_content"

func errInclude() error { return llm.BadSetting("include", "must be a list of strings") }

// requestSettings is the part of a body that is neither instructions nor tools nor
// input: what the configuration says, overridden by what this program relies on.
func requestSettings(settings state.Object) (state.Object, error) {
	body := settings.Without("input").Without("instructions").Without("tools")
	body = body.With("stream", state.BoolValue(true))
	store, _ := body.Get("store")
	if store.IsNull() {
		store = state.BoolValue(false)
		body = body.With("store", store)
	}
	if store != state.BoolValue(false) {
		return body, nil
	}
	given, _ := body.Get("include")
	items, isList := given.Items()
	if !isList && !given.IsNull() {
		return state.Object{}, errInclude()
	}
	wanted := []string{}
	for _, item := range items {
		text, isText := item.Text()
		if !isText {
			return state.Object{}, errInclude()
		}
		if text == encrypted {
			return body, nil
		}
		wanted = append(wanted, text)
	}
	include, err := state.ValueOf(append(wanted, encrypted))
	return body.With("include", include), err
}

// form is the replay.Form of Responses.
type form struct{}

// Head implements replay.Form.
func (form) Head(settings state.Object, tools []state.Tool) ([]byte, bool, error) {
	body, err := requestSettings(settings)
	if err != nil {
		return nil, false, err
	}
	out, err := replay.AppendHead(nil, body, tools, func(dst []byte, t state.Tool) []byte {
		return append(replay.AppendFunction(append(dst, `{"type":"function",`...), t), '}')
	})
	return out, false, err
}

// Prompt implements replay.Form.
func (form) Prompt(text string) []byte {
	var dst []byte
	if text != "" {
		dst = append(replay.AppendText([]byte(`"instructions":`), text), ',')
	}
	return append(dst, `"input":[`...)
}

// User implements replay.Form. A message without parts says the empty text.
func (form) User(dst []byte, m *state.Message) ([]byte, error) {
	dst = append(dst, `,{"type":"message","role":"`+replay.Role(m, "user", "system", "developer")+`","content":`...)
	parts := m.Content
	if len(parts) == 0 {
		parts = []state.Content{state.TextContent("")}
	}
	dst, err := appendParts(dst, parts)
	return append(dst, '}'), err
}

// appendParts writes a list of input parts. Empty texts beside others are left out.
func appendParts(dst []byte, parts []state.Content) ([]byte, error) {
	dst = append(dst, '[')
	written := 0
	for i, c := range parts {
		if replay.IsText(c) && c.Raw == "" && (i+1 < len(parts) || written > 0) {
			continue
		}
		part, err := inputPart(c)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if written > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, part.String()...)
		written++
	}
	return append(dst, ']'), nil
}
