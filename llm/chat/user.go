package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
	"simplex/state"
)

// appendUser writes a turn's input: one text part as a string, none as "", anything
// else as a list of parts.
func (e *encoder) appendUser(m *state.Message) error {
	parts := make([]openai.ChatMessagePart, 0, len(m.Content))
	for i, c := range m.Content {
		part, err := userPart(c)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		if part.Type == openai.ChatMessagePartTypeText && part.Text == "" && len(m.Content) > 1 {
			continue // servers refuse a text part without text
		}
		parts = append(parts, part)
	}
	e.msgs = append(e.msgs, `,{"role":`...)
	e.msgs = appendText(e.msgs, roleOr(m, openai.ChatMessageRoleUser))
	e.msgs = append(e.msgs, `,"content":`...)
	switch {
	case len(parts) == 0:
		e.msgs = append(e.msgs, `""`...)
	case len(parts) == 1 && parts[0].Type == openai.ChatMessagePartTypeText:
		e.msgs = appendText(e.msgs, parts[0].Text)
	default:
		raw, err := json.Marshal(parts, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		e.msgs = append(e.msgs, raw...)
	}
	e.msgs = append(e.msgs, '}')
	return nil
}

func roleOr(m *state.Message, derived string) string {
	if m.Role != "" {
		return m.Role
	}
	return derived
}

func userPart(c state.Content) (openai.ChatMessagePart, error) {
	switch {
	case c.Modality == state.ModalityText && c.Type != state.TypeBinary:
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: c.Raw}, nil
	case c.Modality == state.ModalityImage && c.Type == state.TypeExternalRef:
		image, err := imageURL(c)
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: image}, err
	}
	return openai.ChatMessagePart{}, unsupported(c)
}

func unsupported(c state.Content) error {
	return fmt.Errorf("%w: %s content of modality %s cannot be sent to this model", llm.ErrUnsupportedPart, c.Type, c.Modality)
}

// imageURL takes the reference from extras.image_url (an object or a string) or else
// from the part itself.
func imageURL(c state.Content) (*openai.ChatMessageImageURL, error) {
	image := &openai.ChatMessageImageURL{URL: c.Raw}
	given, _ := c.Extras.Get("image_url")
	if url, isText := given.Text(); isText {
		image.URL = url
	}
	if object, err := given.Object(); err == nil {
		if url, isText := member(object, "url"); isText {
			image.URL = url
		}
		if detail, isText := member(object, "detail"); isText {
			image.Detail = openai.ImageURLDetail(detail)
		}
	}
	if detail, isText := member(c.Extras, "detail"); isText {
		image.Detail = openai.ImageURLDetail(detail)
	}
	if image.URL == "" {
		return nil, fmt.Errorf("%w: the image has no URL", llm.ErrUnsupportedPart)
	}
	return image, nil
}

func member(o state.Object, name string) (string, bool) {
	v, _ := o.Get(name)
	return v.Text()
}
