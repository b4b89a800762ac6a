package responses

import (
	"fmt"
	"strings"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

// inputPart maps one part of a user input or of a tool's output (§6.6). What the part's
// extras hold of the protocol's own members counts before the part itself.
func inputPart(c state.Content) (state.Object, error) {
	switch {
	case replay.IsText(c):
		return part("input_text", "text", c.Raw), nil
	case c.Modality == state.ModalityImage && c.Type == state.TypeExternalRef:
		return imagePart(c)
	case c.Modality == state.ModalityDocument && c.Type != state.TypeText:
		return filePart(c)
	}
	return state.Object{}, replay.Unsupported(c)
}

func part(kind, name, value string) state.Object {
	return state.ObjectFrom([]state.Member{
		{Name: "type", Value: state.StringValue(kind)}, {Name: name, Value: state.StringValue(value)},
	})
}

func imagePart(c state.Content) (state.Object, error) {
	url, detail := replay.Image(c)
	out := part("input_image", "image_url", url)
	if id, _ := replay.Member(c.Extras, "file_id"); id != "" {
		out = part("input_image", "file_id", id)
	} else if url == "" {
		return out, fmt.Errorf("%w: the image has neither URL nor file_id", llm.ErrUnsupportedPart)
	}
	if detail != "" {
		out = out.With("detail", state.StringValue(detail))
	}
	return out, nil
}

func filePart(c state.Content) (state.Object, error) {
	name, value := "file_url", c.Raw
	if c.Type == state.TypeBinary {
		name, value = "file_data", fileData(c)
	}
	for _, member := range []string{name, "file_id"} {
		if given, _ := replay.Member(c.Extras, member); given != "" {
			name, value = member, given
		}
	}
	if value == "" {
		return state.Object{}, fmt.Errorf("%w: the document has no content", llm.ErrUnsupportedPart)
	}
	out := part("input_file", name, value)
	if filename, _ := replay.Member(c.Extras, "filename"); filename != "" {
		out = out.With("filename", state.StringValue(filename))
	}
	return out, nil
}

// fileData makes a data URL where the media type is known.
func fileData(c state.Content) string {
	kind, _ := replay.Member(c.Extras, "mime_type")
	if kind == "" || c.Raw == "" || strings.HasPrefix(c.Raw, "data:") {
		return c.Raw
	}
	return "data:" + kind + ";base64," + c.Raw
}
