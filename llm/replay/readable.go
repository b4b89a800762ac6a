package replay

import (
	"errors"
	"fmt"

	"simplex/llm"
	"simplex/state"
)

// readable gives an input of the past in a form that can be sent: parts that the protocol
// cannot carry give way to a text that says so. The input that is to be answered gets no
// such help, since leaving something out of a question changes it; but once others follow
// it, refusing it again would make the whole conversation useless.
func readable(f Form, m *state.Message) *state.Message {
	out := *m
	out.Content = make([]state.Content, len(m.Content))
	for i, part := range m.Content {
		alone := *m
		alone.Content = []state.Content{part}
		if _, err := f.User(nil, &alone); errors.Is(err, llm.ErrUnsupportedPart) {
			part = state.TextContent(fmt.Sprintf("[left out: a part of modality %s, which cannot be sent to this model]", part.Modality))
		}
		out.Content[i] = part
	}
	return &out
}
