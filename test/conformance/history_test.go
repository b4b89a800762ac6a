package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"simplex/state"
	"simplex/test/conformance/rig"
)

// page is the data of a history event as a Hub reads it.
type page struct {
	RequestID string `json:"request_id"`
	Revision  uint64 `json:"revision"`
	Start     uint64 `json:"start"`
	Step      uint64 `json:"step"`
	Next      uint64 `json:"next"`
	NextStep  uint64 `json:"next_step"`
	Total     uint64 `json:"total"`
	Turns     []turn `json:"turns"`
}

type turn struct {
	Index            uint64  `json:"index"`
	User             []piece `json:"user"`
	OmittedUserParts uint64  `json:"omitted_user_parts"`
	OmittedSteps     uint64  `json:"omitted_steps"`
	InternalInput    string  `json:"internal_input"`
	Source           object  `json:"source"`
	Steps            []step  `json:"steps"`
}

type step struct {
	Index          uint64  `json:"index"`
	Content        []piece `json:"content"`
	Reasoning      *piece  `json:"reasoning"`
	ToolCalls      uint64  `json:"tool_calls"`
	CommitSequence string  `json:"commit_sequence"`
	Execution      object  `json:"execution"`
	AnswerSource   *source `json:"answer_source"`
	OmittedParts   uint64  `json:"omitted_parts"`
}

type piece struct {
	Type      string `json:"type"`
	Modality  string `json:"modality"`
	Raw       string `json:"raw"`
	Truncated bool   `json:"truncated"`
	Bytes     uint64 `json:"bytes"`
}

type source struct {
	WorkerID       string `json:"worker_id"`
	Turn           uint64 `json:"turn"`
	Step           uint64 `json:"step"`
	CommitSequence string `json:"commit_sequence"`
	Fingerprint    string `json:"fingerprint"`
}

// ask sends a history query and decodes the page.
func ask(r *rig.Rig, start, step uint64, more ...any) page {
	r.T.Helper()
	r.Payload(rig.Op("history", append([]any{"request_id", fmt.Sprintf("h%d.%d", start, step), "start", start, "step", step}, more...)...))
	e := r.Expect("history")
	if len(e.Data) > 252<<10 || len(e.Raw) > 256<<10 {
		r.T.Errorf("page of %d, event of %d bytes", len(e.Data), len(e.Raw))
	}
	var p page
	r.Into(e, &p)
	return p
}

// walk pages through the whole history; every page but the last must advance.
func walk(r *rig.Rig, limit int) (pages []page) {
	r.T.Helper()
	for at := (page{}); ; {
		p := ask(r, at.Next, at.NextStep, "limit", limit)
		if p.Start != at.Next || p.Step != at.NextStep {
			r.T.Fatalf("asked for %d.%d, got %d.%d", at.Next, at.NextStep, p.Start, p.Step)
		}
		pages = append(pages, p)
		if p.Next == p.Total && p.NextStep == 0 {
			return pages
		}
		if p.Next < at.Next || p.Next == at.Next && p.NextStep <= at.NextStep {
			r.T.Fatalf("page %d does not advance: %d.%d", len(pages), p.Next, p.NextStep)
		}
		at = p
	}
}

// read pages through one answer and gives its parts.
func read(r *rig.Rig, s source) (parts []string) {
	r.T.Helper()
	var part, offset uint64
	for text := ""; ; {
		r.Payload(rig.Op("answer", "request_id", "a", "source", s, "part", part, "offset", offset))
		e := r.Expect("answer")
		var a struct {
			Raw        string `json:"raw"`
			Bytes      uint64 `json:"bytes"`
			NextOffset uint64 `json:"next_offset"`
			NextPart   uint64 `json:"next_part"`
			TotalParts uint64 `json:"total_parts"`
			Part       uint64 `json:"part"`
			Offset     uint64 `json:"offset"`
			Done       bool   `json:"done"`
			Source     source `json:"source"`
			RequestID  string `json:"request_id"`
		}
		r.Into(e, &a)
		if len(a.Raw) > 32<<10 || a.Part != part || a.Offset != offset || a.Source != s || a.RequestID != "a" || a.NextOffset != offset+uint64(len(a.Raw)) {
			r.T.Fatalf("answer page %.300s", e.Data)
		}
		text += a.Raw
		offset = a.NextOffset
		if a.NextOffset == a.Bytes {
			parts, text, offset = append(parts, text), "", 0
		}
		if a.Done {
			return parts
		}
		part = a.NextPart
	}
}

// fingerprint is worker-data.md §8.1 written once more.
func fingerprint(content []state.Content) string {
	h := sha256.New()
	for _, c := range content {
		_, _ = fmt.Fprintf(h, `{"bytes":%d,"modality":%q,"type":%q}%s`, len(c.Raw), c.Modality, c.Type, c.Raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestHistory(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"6", "an empty history", func(t *testing.T) {
			r := rig.New(t)
			p := r.Online()
			if h := ask(r, 0, 0); h.Total != 0 || h.Next != 0 || h.Turns == nil || h.RequestID != "h0.0" {
				t.Errorf("%+v", h)
			}
			p.Stop()
		}},
		{"6", "limits, defaults and cursors", cursors},
		{"6", "a turn longer than a page", longTurn},
		{"6", "previews, omissions and what is never shown", previews},
		{"6", "revision moves with the displayed state only", revision},
		{"6", "answers are paged verbatim", answers},
		{"6", "a changed, foreign or missing source is an error", foreign},
		{"3", "bad queries", badQueries},
		{"7", "a query envelope has an end", queryBounds},
		{"7", "the query queue and the mailbox behind it have an end", queryQueue},
	})
}

func cursors(t *testing.T) {
	r := rig.New(t)
	r.Put(fresh(textOf("ok"), words(25)...))
	p := r.Online()
	if h := walk(r, 10); len(h) != 3 || len(h[0].Turns) != 10 || len(h[2].Turns) != 5 {
		t.Errorf("%d pages", len(h))
	}
	if h := walk(r, 1); len(h) != 25 || h[24].Turns[0].Index != 24 || h[24].Turns[0].User[0].Raw != "question 24" {
		t.Errorf("%d pages", len(h))
	}
	r.Payload(rig.Op("history", "request_id", "defaults", "unknown", 1))
	e := r.Expect("history")
	var h page
	if r.Into(e, &h); h.Start != 0 || h.Step != 0 || len(h.Turns) != 10 || h.Next != 10 || h.Total != 25 {
		t.Errorf("defaults: %+v", h)
	}
	if h := ask(r, 25, 0); h.Next != 25 || len(h.Turns) != 0 {
		t.Errorf("at the end: %+v", h)
	}
	p.Stop()
}

func longTurn(t *testing.T) {
	st := fresh(textOf("ok"), "first", "long", "last")
	st.Turns[1].Steps = nil
	answer := textOf(bulk(90 << 10))
	for i := range 7 {
		st.Turns[1].Steps = append(st.Turns[1].Steps, said(answer, uint64(i+2)))
	}
	st.Turns[2].Steps[0].CommitSequence, st.Loop.CommittedSequence = 9, 9
	r := rig.New(t)
	r.Put(st)
	p := r.Online()
	seen := map[uint64]int{}
	pages := walk(r, 10)
	for _, h := range pages {
		for _, turn := range h.Turns {
			if len(turn.User) != 1 || turn.Index == 1 && turn.User[0].Raw != "long" {
				t.Errorf("user projection of turn %d: %v", turn.Index, turn.User)
			}
			for _, s := range turn.Steps {
				if turn.Index == 1 {
					seen[s.Index]++
				}
			}
		}
	}
	if len(pages) < 3 || len(seen) != 7 || seen[0] != 1 || seen[6] != 1 {
		t.Errorf("%d pages, steps %v", len(pages), seen)
	}
	p.Stop()
}

func previews(t *testing.T) {
	many := []state.Content{}
	for range 130 {
		many = append(many, state.TextContent("part"))
	}
	st := fresh(many, "many parts", "large", "user parts", "internal")
	st.SystemPrompt.Sections[0].Text = "SECRET-PROMPT"
	large := st.Turns[1].Steps[0].ModelResponse
	large.Content = []state.Content{state.TextContent(bulk(120 << 10)), state.TextContent("left out")}
	large.Reasoning = &state.Content{Type: state.TypeText, Raw: bulk(8 << 10), Modality: state.ModalityText}
	large.Calls = []state.Call{{ID: "c1", Name: "n", Arguments: state.StringValue("SECRET-ARGUMENT")}}
	st.Turns[1].Steps[0].Returns = []*state.Message{state.NewResultMessage(state.Result{Call: large.Calls[0], Output: state.TextContent("SECRET-RESULT")})}
	st.Turns[2].UserInput.Content = []state.Content{
		state.TextContent(bulk(5000)),
		{Type: state.TypeExternalRef, Modality: state.ModalityImage, Raw: bulk(3000)},
		{Type: state.TypeBinary, Modality: state.ModalityImage, Raw: "QUJD"},
		state.TextContent("x"), state.TextContent("fifth"),
	}
	internal, err := state.ObjectOf(map[string]any{
		"simplex.internal_input": "auto_compact_continue", "simplex.source": map[string]string{"worker_id": "w", "request_id": "q", "run_id": "r"},
	})
	if err != nil {
		t.Fatal(err)
	}
	st.Turns[3].UserInput.Extras = internal
	r := rig.New(t)
	r.Put(st)
	p := r.Online()
	r.Payload(rig.Op("history", "request_id", "h"))
	e := r.Expect("history")
	if strings.Contains(string(e.Data), "SECRET") {
		t.Error("a history page shows what it never may")
	}
	var h page
	r.Into(e, &h)
	first, second, user, inner := h.Turns[0].Steps[0], h.Turns[1].Steps[0], h.Turns[2], h.Turns[3]
	if len(first.Content) != 128 || first.OmittedParts != 2 || first.CommitSequence != "1" {
		t.Errorf("%d parts, %d omitted", len(first.Content), first.OmittedParts)
	}
	if c := second.Content[0]; !c.Truncated || c.Bytes != uint64(len(large.Content[0].Raw)) || len(c.Raw) > 96<<10 || second.OmittedParts != 1 ||
		!utf8.ValidString(c.Raw) || second.ToolCalls != 1 {
		t.Errorf("large answer: %d bytes, %d omitted", len(c.Raw), second.OmittedParts)
	}
	if c := second.Reasoning; c == nil || !c.Truncated || len(c.Raw) > 4096 || len(c.Raw) < 4000 {
		t.Error("reasoning")
	}
	u := user.User
	if len(u) != 4 || user.OmittedUserParts != 1 || len(u[0].Raw) > 4096 || !u[0].Truncated || len(u[1].Raw) > 2048 || u[2].Raw != "" || u[2].Bytes != 4 || !u[2].Truncated || u[3].Truncated {
		t.Errorf("user %+v", user.OmittedUserParts)
	}
	if len(inner.User) != 0 || inner.OmittedUserParts != 0 || inner.InternalInput != "auto_compact_continue" || inner.Source["run_id"] != "r" {
		t.Errorf("internal input %+v", inner)
	}
	p.Stop()
}

func revision(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "one"})
	r.Put(fresh(textOf("ok"), "first"))
	p := r.Online()
	before := ask(r, 0, 0).Revision
	r.Status()
	if again := ask(r, 0, 0).Revision; again != before {
		t.Errorf("revision %d after nothing, %d before", again, before)
	}
	r.Payload(rig.Message("q1", "second"))
	r.Completes()
	h := ask(r, 1, 0)
	if h.Revision <= before || h.Total != 2 || h.Turns[0].Steps[0].Execution["request_id"] != "q1" {
		t.Errorf("%+v", h)
	}
	p.Stop()
}

func answers(t *testing.T) {
	content := []state.Content{
		state.TextContent(bulk(100 << 10)),
		{Type: state.TypeExternalRef, Modality: state.ModalityDocument, Raw: "https://example.invalid/" + bulk(40<<10)},
		state.TextContent("end\u2028\n"),
	}
	r := rig.New(t)
	r.Put(fresh(content, "first"))
	p := r.Online()
	s := ask(r, 0, 0).Turns[0].Steps[0].AnswerSource
	if s == nil || s.Fingerprint != fingerprint(content) || s.CommitSequence != "1" {
		t.Fatalf("source %+v, fingerprint %s", s, fingerprint(content))
	}
	for i, part := range read(r, *s) {
		if part != content[i].Raw {
			t.Errorf("part %d differs", i)
		}
	}
	p.Stop()
	liveAnswer(t)
}

func liveAnswer(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: bulk(600 << 10)})
	p := r.Online()
	var told source
	r.Payload(rig.Message("q1", "x")) // a live source pages the same
	for _, e := range r.Until("run_finished") {
		if e.Name == "run_finished" && e.Field("status") != "completed" {
			t.Fatalf("%s", e.Data)
		}
		if e.Name != "model_response" {
			continue
		}
		var live struct {
			Content      []piece `json:"content"`
			AnswerSource source  `json:"answer_source"`
		}
		r.Into(e, &live)
		if len(live.Content) != 1 {
			t.Fatalf("live response without content: %.600s", e.Raw)
		}
		if c := live.Content[0]; !c.Truncated || len(c.Raw) > 512<<10 || len(e.Raw) > 1<<20 {
			t.Errorf("live response of %d bytes", len(c.Raw))
		}
		told = live.AnswerSource
	}
	if paged := ask(r, 0, 0).Turns[0].Steps[0].AnswerSource; *paged != told {
		t.Errorf("sources %+v and %+v", *paged, told)
	}
	if got := read(r, told); len(got) != 1 || got[0] != bulk(600<<10) {
		t.Error("the live answer differs")
	}
	p.Stop()
}
