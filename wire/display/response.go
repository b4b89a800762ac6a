package display

import (
	"encoding/json/jsontext"

	"simplex/internal/text"
	"simplex/state"
	"simplex/wire"
)

// partOverhead is more than an encoded wire.Part takes beside its raw text.
const partOverhead = 112

// response is the data of model_response.
type response struct {
	Type           state.MessageType `json:"type"`
	Role           string            `json:"role"`
	Content        []wire.Part       `json:"content"`
	Reasoning      *wire.Part        `json:"reasoning,omitzero"`
	Invokes        jsontext.Value    `json:"invokes,omitzero"`
	Cost           *cost             `json:"cost,omitzero"`
	OmittedParts   int               `json:"omitted_parts"`
	AnswerSource   wire.AnswerSource `json:"answer_source"`
	CommitSequence wire.Sequence     `json:"commit_sequence"`
}

type cost struct {
	Prompt    uint64 `json:"prompt"`
	Generated uint64 `json:"generated"`
	CacheHit  uint64 `json:"cache_hit"`
}

// Response is the data of model_response: the committed message with its answers bounded
// to wire.LiveAnswer bytes together. The source says where the whole can be paged from.
func Response(m *state.Message, source wire.AnswerSource) (jsontext.Value, error) {
	r := response{
		Type:           m.Type,
		Role:           text.Prefix(m.Role, wire.DisplayKey),
		AnswerSource:   source,
		CommitSequence: source.CommitSequence,
	}
	r.Content, r.OmittedParts = Parts(m.Content, wire.LiveAnswer)
	r.Reasoning = Reasoning(m)
	if len(m.Calls) > 0 || m.CallsSet {
		r.Invokes = Calls(m.Calls)
	}
	if c := m.Cost; c != nil {
		r.Cost = &cost{c.Prompt, c.Generated, c.CacheHit}
	}
	return wire.EncodeData(&r)
}

// Parts gives display copies of answer parts that take at most budget bytes encoded
// together, and how many parts were left out: those beyond wire.AnswerParts, and all once
// less than wire.AnswerRestMinimum of the budget is left. Raw shares memory with the
// content.
func Parts(content []state.Content, budget int) (parts []wire.Part, omitted int) {
	parts = make([]wire.Part, 0, min(len(content), wire.AnswerParts))
	for i := range content {
		if i == wire.AnswerParts || budget < wire.AnswerRestMinimum {
			return parts, len(content) - i
		}
		p, used := part(&content[i], budget-partOverhead)
		parts = append(parts, p)
		budget -= used + partOverhead
	}
	return parts, 0
}

// part is the copy of one part with at most budget encoded bytes of raw.
func part(c *state.Content, budget int) (p wire.Part, used int) {
	n := 0
	if c.Type != state.TypeBinary {
		n, used = fit(c.Raw, budget)
	}
	return shorten(c, n), used
}

// shorten is the copy of a part with the first n bytes of raw.
func shorten(c *state.Content, n int) wire.Part {
	p := wire.Part{Type: c.Type, Raw: c.Raw[:n], Modality: c.Modality}
	if n < len(c.Raw) {
		size := uint64(len(c.Raw))
		p.Truncated, p.Bytes = true, &size
	}
	return p
}

// Reasoning is the first wire.PreviewReasoning encoded bytes of a message's reasoning; nil
// when there is none.
func Reasoning(m *state.Message) *wire.Part {
	if m.Reasoning == nil {
		return nil
	}
	p, _ := part(m.Reasoning, wire.PreviewReasoning)
	return &p
}

// UserParts is a user input as a history shows it: up to wire.HistoryUserParts parts, text
// and references cut, binary left empty; and how many parts were left out.
func UserParts(content []state.Content) (parts []wire.Part, omitted int) {
	shown := min(len(content), wire.HistoryUserParts)
	parts = make([]wire.Part, shown)
	for i := range parts {
		c := &content[i]
		limit := wire.PreviewReference
		switch {
		case c.Type == state.TypeBinary:
			limit = 0
		case c.Modality == state.ModalityText && c.Type == state.TypeText:
			limit = wire.PreviewText
		}
		parts[i] = shorten(c, len(text.Prefix(c.Raw, limit)))
	}
	return parts, len(content) - shown
}
