package mcp

import (
	"encoding/base64"
	"fmt"
	"strings"

	"simplex/internal/text"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/mcp/client"
)

// ContentExtra is the member of a result's extras that holds what is no text: a list
// of content parts.
const ContentExtra = "mcp_content"

// mapper brings an answer's parts into one text, which is all a model can be sent as
// the result of a tool, and the list of the others.
type mapper struct {
	limit  int // bytes, of the text and again of the others
	texts  []string
	others []state.Content
	kept   int // bytes of others
}

// mapResult makes our result of an answer; what a tool reports as its own failure
// becomes an error record.
func mapResult(answer *client.Result, limit int) (state.Result, error) {
	if len(answer.InputRequests) > 0 {
		return state.Result{}, &tools.Failure{Message: "the tool asks back before it can answer, and nobody here can answer it"}
	}
	m := &mapper{limit: limit}
	for _, part := range answer.Content {
		m.add(part)
	}
	if len(answer.Content) == 0 {
		if v, err := tolerant(answer.StructuredContent); err == nil && !v.IsNull() {
			m.texts = append(m.texts, v.String())
		}
	}
	body := m.text()
	if answer.IsError {
		if body == "" {
			body = "the tool failed and does not say why"
		}
		return state.Result{}, &tools.Failure{Message: body}
	}
	out := state.Result{Output: state.TextContent(body)}
	if len(m.others) == 0 {
		return out, nil
	}
	list, err := state.ValueOf(m.others)
	if err != nil {
		return state.Result{}, fmt.Errorf("content of the answer: %w", err)
	}
	out.Extras = state.ObjectFrom([]state.Member{{Name: ContentExtra, Value: list}})
	return out, nil
}

func (m *mapper) add(p client.Content) {
	switch p.Kind {
	case client.KindText:
		m.texts = append(m.texts, text.Display(p.Text))
	case client.KindImage:
		m.binary(state.ModalityImage, p.MIMEType, p.Data)
	case client.KindAudio:
		m.binary(state.ModalityAudio, p.MIMEType, p.Data)
	case client.KindLink:
		m.texts = append(m.texts, fmt.Sprintf("[resource %s: %s]", text.Display(p.Name), text.Display(p.URI)))
	case client.KindResource:
		m.resource(p.Resource)
	default:
		m.texts = append(m.texts, "[content of a kind that is not known here]")
	}
}

func (m *mapper) resource(r *client.Resource) {
	switch {
	case r == nil:
	case r.Blob != nil:
		m.binary(state.ModalityDocument, r.MIMEType, *r.Blob)
	default:
		m.texts = append(m.texts, fmt.Sprintf("[resource %s]\n%s", text.Display(r.URI), text.Display(r.Text)))
	}
}

// binary keeps a part beside the text, if there is room, and mentions it there.
func (m *mapper) binary(modality state.Modality, mime, encoded string) {
	what := fmt.Sprintf("%s %s", modality, text.Display(mime))
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		m.texts = append(m.texts, "["+what+"; no valid base64, left out]")
		return
	}
	what = fmt.Sprintf("%s, %d bytes", what, len(data))
	if size := base64.StdEncoding.EncodedLen(len(data)); size > m.limit-m.kept {
		m.texts = append(m.texts, "["+what+"; too large, left out]")
		return
	}
	raw := base64.StdEncoding.EncodeToString(data)
	m.kept += len(raw)
	m.others = append(m.others, state.Content{
		Type: state.TypeBinary, Modality: modality, Raw: raw,
		Extras: state.ObjectFrom([]state.Member{{Name: "mime_type", Value: state.StringValue(mime)}}),
	})
	m.texts = append(m.texts, "["+what+"; kept in the record, not shown here]")
}

// text joins the texts, cut to the limit.
func (m *mapper) text() string {
	whole := strings.Join(m.texts, "\n")
	if len(whole) <= m.limit {
		return whole
	}
	head := text.Prefix(whole, m.limit)
	return fmt.Sprintf("%s\n[truncated: these are the first %d of %d bytes; ask for less at once]", head, len(head), len(whole))
}
