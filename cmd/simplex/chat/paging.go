package chat

import (
	"encoding/json/jsontext"
	"strings"

	"github.com/google/uuid"

	"simplex/hub/adapter"
	"simplex/wire"
)

// paging fetches an answer that was too long to be shown in its event: page by page, by
// the source that the event named.
type paging struct {
	source jsontext.Value
	id     string // of the query under way
	text   strings.Builder
}

// cutAnswer is what tells that a response is an answer which was shortened for display.
type cutAnswer struct {
	Content []part `json:"content"`
	Invokes []struct {
		Name string `json:"name"`
	} `json:"invokes"`
	Omitted int            `json:"omitted_parts"`
	Source  jsontext.Value `json:"answer_source"`
}

func (c cutAnswer) incomplete() bool {
	cut := c.Omitted > 0
	for _, p := range c.Content {
		cut = cut || p.Truncated
	}
	return cut && len(c.Invokes) == 0
}

// fetch begins to page where the response is a shortened answer.
func (t *talk) fetch(data jsontext.Value) {
	var c cutAnswer
	if t.cfg.JSON || decode(data, &c) != nil || !c.incomplete() {
		return
	}
	t.pages = &paging{source: c.Source.Clone()}
	t.request(0, 0)
}

// request asks for the page at that place.
func (t *talk) request(part, offset uint64) {
	t.pages.id = uuid.NewString()
	if err := t.hub.Send(adapter.Answer(t.pages.id, t.pages.source, part, offset)); err != nil {
		t.fetched("the rest of the answer could not be asked for: " + err.Error())
	}
}

// page takes the answer to the query under way.
func (t *talk) page(e *wire.Received) {
	var p struct {
		RequestID  string `json:"request_id"`
		Raw        string `json:"raw"`
		NextPart   uint64 `json:"next_part"`
		NextOffset uint64 `json:"next_offset"`
		Done       bool   `json:"done"`
		Message    string `json:"message"`
	}
	if t.pages == nil || decode(e.Data, &p) != nil || p.RequestID != t.pages.id {
		return
	}
	t.pages.text.WriteString(p.Raw)
	switch {
	case e.Name == wire.EventAnswerError:
		t.fetched("the rest of the answer cannot be had: " + p.Message)
	case p.Done:
		t.fetched("")
	default:
		t.request(p.NextPart, p.NextOffset)
	}
}

// fetched shows what came, and ends the prompt if its run ended meanwhile.
func (t *talk) fetched(problem string) {
	t.show.answer(t.pages.text.String())
	if problem != "" {
		t.show.note(problem)
	}
	t.pages = nil
	if t.held != nil {
		t.held()
	}
}
