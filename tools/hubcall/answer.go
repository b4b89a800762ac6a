package hubcall

import (
	"encoding/json/jsontext"

	"simplex/tools/result"
	"simplex/wire"
)

// answer shows one page of one answer, verbatim, provided that it is the page that was
// asked for and that its counts agree.
func (p *page) answer(reply object, q *query) {
	if readStatus(reply).id != q.id {
		reply.fail("subagent_id", "is another one")
	}
	o := reply.object("answer")
	source := o.source("source")
	got := wire.AnswerData{
		Part: o.count("part"), Offset: o.count("offset"),
		Raw:   o.text("raw", wire.AnswerPage),
		Bytes: o.count("bytes"), NextOffset: o.count("next_offset"),
		NextPart: o.count("next_part"), TotalParts: o.count("total_parts"),
		Done: o.boolean("done"),
	}
	got.Source, _ = wire.ParseAnswerSource(jsontext.Value(source.String()))
	checkAnswer(o, got, q.answer)
	p.whole = true
	r := p.record(func(r *result.Record) {
		r.Value("source", source)
		r.Uint("part", got.Part)
		r.Uint("offset", got.Offset)
		r.Uint("next_offset", got.NextOffset)
		r.Uint("next_part", got.NextPart)
		r.Uint("bytes", got.Bytes)
		r.Uint("total_parts", got.TotalParts)
		r.Bool("done", got.Done)
		r.String("hint", nextPage(got))
	})
	r.body(p.unit(newest), "answer page", got.Raw, false)
}

// checkAnswer checks echo, offsets and counts.
func checkAnswer(o object, got wire.AnswerData, want *wire.AnswerRequest) {
	if got.Source != want.Source {
		o.fail("source", "is another one")
	}
	if got.Part != want.Part {
		o.fail("part", "is another one")
	}
	if got.Offset != want.Offset {
		o.fail("offset", "is another one")
	}
	next := got.Part
	if got.NextOffset == got.Bytes {
		next++
	}
	switch {
	case got.NextOffset != got.Offset+uint64(len(got.Raw)), got.NextOffset > got.Bytes:
		o.fail("next_offset", "does not agree with offset and bytes")
	case got.NextPart != next:
		o.fail("next_part", "does not agree with next_offset")
	case got.NextPart > got.TotalParts, got.Part >= got.TotalParts:
		o.fail("total_parts", "does not agree with the part")
	case got.Done != (got.NextPart == got.TotalParts):
		o.fail("done", "does not agree with next_part")
	case got.Raw == "" && got.NextPart == got.Part:
		o.fail("raw", "makes no progress")
	}
}

// nextPage says how to go on.
func nextPage(got wire.AnswerData) string {
	switch {
	case got.Done:
		return ""
	case got.NextPart != got.Part:
		return "the next page begins the next part: ask with part = next_part and offset 0"
	}
	return "for the next page ask with the same part and offset = next_offset"
}
