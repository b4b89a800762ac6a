package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

// User implements replay.Form: one text part as a string, none as "", anything else as
// a list of parts.
func (f *form) User(dst []byte, m *state.Message) ([]byte, error) {
	parts := make([]openai.ChatMessagePart, 0, len(m.Content))
	for i, c := range m.Content {
		part, err := userPart(c)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if part.Type == openai.ChatMessagePartTypeText && part.Text == "" && len(m.Content) > 1 {
			continue // servers refuse a text part without text
		}
		parts = append(parts, part)
	}
	dst = append(dst, `,{"role":`...)
	dst = replay.AppendText(dst, replay.Role(m, openai.ChatMessageRoleUser, openai.ChatMessageRoleSystem, openai.ChatMessageRoleDeveloper))
	dst = append(dst, `,"content":`...)
	switch {
	case len(parts) == 0:
		dst = append(dst, `""`...)
	case len(parts) == 1 && parts[0].Type == openai.ChatMessagePartTypeText:
		dst = replay.AppendText(dst, parts[0].Text)
	default:
		raw, err := json.Marshal(parts, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return nil, err
		}
		dst = append(dst, raw...)
	}
	return append(dst, '}'), nil
}

func userPart(c state.Content) (openai.ChatMessagePart, error) {
	switch {
	case replay.IsText(c):
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: c.Raw}, nil
	case c.Modality == state.ModalityImage && c.Type == state.TypeExternalRef:
		image, err := imageURL(c)
		return openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: image}, err
	}
	return openai.ChatMessagePart{}, replay.Unsupported(c)
}

func imageURL(c state.Content) (*openai.ChatMessageImageURL, error) {
	url, detail := replay.Image(c)
	if url == "" {
		return nil, fmt.Errorf("%w: the image has no URL", llm.ErrUnsupportedPart)
	}
	return &openai.ChatMessageImageURL{URL: url, Detail: openai.ImageURLDetail(detail)}, nil
}
