package hubcall

import (
	"encoding/json/jsontext"
	"fmt"

	"simplex/state"
	"simplex/tools/result"
	"simplex/wire"
)

// Limits of what comes back.
const (
	maxRequests = 20
	maxTurns    = highestLimit
	maxSteps    = 32
	maxParts    = 128
)

// conversation is one page of a child's turns.
type conversation struct {
	o                            object
	revision                     state.Value
	worker, refreshed            literal
	cursor, next, total          uint64
	stale, incomplete, truncated bool
	turns                        []object
}

func readConversation(o object, q *query) *conversation {
	c := &conversation{
		o:          o,
		revision:   state.NullValue(),
		worker:     o.literal("worker_id", wire.MaxID, false),
		refreshed:  o.literal("refreshed_at", maxObserved, false),
		cursor:     o.count("cursor"),
		next:       o.count("next"),
		total:      o.count("total"),
		stale:      o.boolean("stale"),
		incomplete: o.boolean("incomplete"),
		truncated:  o.boolean("truncated"),
		turns:      o.objects("turns", int(min(q.limit, maxTurns))),
	}
	if o.has("revision") {
		c.revision = state.UintValue(o.count("revision"))
	}
	given := uint64(len(c.turns))
	skipped := given == 0 && c.truncated && c.next == c.cursor+1
	if c.next != c.cursor+given && !skipped || c.next > max(c.total, c.cursor) {
		o.fail("next", "does not agree with cursor and turns")
	}
	return c
}

func (c *conversation) show(r *result.Record) {
	r.Literal("revision", c.revision.String())
	c.worker.show(r, "worker_id")
	r.Uint("cursor", c.cursor)
	r.Uint("next", c.next)
	r.Uint("total", c.total)
	r.Bool("stale", c.stale)
	r.Bool("incomplete", c.incomplete)
	r.Bool("truncated", c.truncated)
	c.refreshed.show(r, "refreshed_at")
}

// request shows what became of something that was sent.
func (p *page) request(o object) {
	id := o.id("request_id")
	operation := o.word("operation", "message", "continue", "compact")
	reached := o.word("state", "intent", "sent", "admitted", "rejected", "unknown", "finished")
	run := o.literal("run_id", wire.MaxID, false)
	at := o.text("at", maxObserved)
	ended := ""
	if o.has("status") {
		ended = runStatus(o.text("status", maxState))
	}
	detail, _ := o.literalText("detail")
	r := p.record(func(r *result.Record) {
		r.String("request_id", id)
		r.String("operation", operation)
		r.String("state", reached)
		run.show(r, "run_id")
		r.String("at", at)
		r.String("run_status", ended)
		r.String("detail", detail)
	})
	if o.has("summary") {
		r.body(p.unit(newest), "compact summary", o.text("summary", 0), false)
	}
}

// runStatus is a known word for how a run ended.
func runStatus(s string) string {
	switch s {
	case "completed", "cancelled", "failed", "exchange_limit":
		return s
	}
	return "unknown"
}

// literalText is a diagnostic that may be absent, cut to its limit.
func (o object) literalText(name string) (string, bool) {
	l := o.literal(name, maxDiagnostics, true)
	return l.text, l.set
}

// turns shows the turns of a conversation. Their indices, and those of the steps in
// each, increase.
func (p *page) turns(c *conversation) {
	before := -1
	for _, o := range c.turns {
		index := o.increasing(&before)
		internal, _ := o.literalText("internal_input")
		request, _ := o.literalText("request_id")
		steps := o.objects("steps", maxSteps)
		var sources []state.Value
		for _, s := range steps {
			if s.has("answer_source") {
				sources = append(sources, s.source("answer_source"))
			}
		}
		r := p.record(func(r *result.Record) {
			r.Int("turn", int64(index))
			r.String("request_id", request)
			r.String("internal_input", internal)
			for _, source := range sources {
				r.Value("answer_source", source)
			}
		})
		input := p.unit(user)
		for _, part := range o.objects("user", maxParts) {
			r.part(input, "user", part)
		}
		p.steps(r, steps)
	}
}

func (p *page) steps(r *record, steps []object) {
	var latest *unit
	before := -1
	for _, o := range steps {
		index := o.increasing(&before)
		step := p.unit(older)
		for _, part := range o.objects("content", maxParts) {
			r.part(step, fmt.Sprintf("assistant step %d", index), part)
		}
		if step.size > 0 {
			latest = step
		}
	}
	if latest != nil {
		latest.rank = newest
	}
}

func (r *record) part(u *unit, name string, o object) {
	kind := o.word("type", "text", "binary", "external_ref")
	modality := o.word("modality", "text", "image", "audio", "video", "document")
	raw := o.text("raw", 0)
	cut := o.flag("truncated")
	if o.has("bytes") && o.count("bytes") > uint64(len(raw)) {
		cut = true
	}
	r.body(u, fmt.Sprintf("%s (%s/%s)", name, kind, modality), raw, cut)
}

// increasing reads index, which must be above the one before.
func (o object) increasing(before *int) int {
	n := int(o.count("index"))
	if n <= *before {
		o.fail("index", "does not increase")
	}
	*before = n
	return n
}

// source checks an answer source and gives it as it is.
func (o object) source(name string) state.Value {
	v := o.members[name]
	if v.Kind() != '{' {
		o.fail(name, "is no object")
		return v
	}
	if _, err := wire.ParseAnswerSource(jsontext.Value(v.String())); err != nil {
		o.fail(name, "is no answer source")
	}
	return v
}
