package replay

import (
	"fmt"
	"slices"
	"strings"

	"simplex/llm"
	"simplex/state"
)

// Text joins the text of parts; other media are llm.ErrUnsupportedPart.
func Text(parts []state.Content) (string, error) {
	if len(parts) == 1 && IsText(parts[0]) {
		return parts[0].Raw, nil
	}
	var out strings.Builder
	for i, c := range parts {
		if !IsText(c) {
			return "", fmt.Errorf("part %d: %w", i, Unsupported(c))
		}
		out.WriteString(c.Raw)
	}
	return out.String(), nil
}

// IsText tells whether a part is text that can be sent as such.
func IsText(c state.Content) bool {
	return c.Modality == state.ModalityText && c.Type != state.TypeBinary
}

// Unsupported is the error for a part that the protocol has no place for.
func Unsupported(c state.Content) error {
	return fmt.Errorf("%w: %s content of modality %s cannot be sent to this model", llm.ErrUnsupportedPart, c.Type, c.Modality)
}

// Refusal joins what the parts of an answer say in refusal.
func Refusal(m *state.Message) string {
	var out string
	for _, c := range m.Content {
		text, _ := Member(c.Extras, "refusal")
		out += text
	}
	return out
}

// Output gives the parts of a tool's result: those of the message or, where they say
// nothing, the record's.
func Output(m *state.Message) []state.Content {
	says := slices.ContainsFunc(m.Content, func(c state.Content) bool { return c.Raw != "" })
	if says || m.Result == nil {
		return m.Content
	}
	return []state.Content{m.Result.Output}
}

// Member gives a member that is a string.
func Member(o state.Object, name string) (string, bool) {
	v, _ := o.Get(name)
	return v.Text()
}

// Role gives the role of a message if it is one of those that fit its place, else the
// first of them.
func Role(m *state.Message, fitting ...string) string {
	if slices.Contains(fitting, m.Role) {
		return m.Role
	}
	return fitting[0]
}

// Image gives the reference and the detail of an image: extras.image_url (an object or
// a string) counts before the part itself.
func Image(c state.Content) (url, detail string) {
	url = c.Raw
	given, _ := c.Extras.Get("image_url")
	if text, isText := given.Text(); isText {
		url = text
	}
	if object, err := given.Object(); err == nil {
		if text, isText := Member(object, "url"); isText {
			url = text
		}
		detail, _ = Member(object, "detail")
	}
	if text, isText := Member(c.Extras, "detail"); isText {
		detail = text
	}
	return url, detail
}
