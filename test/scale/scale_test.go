package scale

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"simplex/state"
	"simplex/test/conformance/rig"
)

// conversation is a session of n turns with answers of about size bytes each; the last
// one is of last bytes where that is not 0.
func conversation(n, size, last int) *state.State {
	st := state.New("s1", time.Unix(1700000000, 0))
	st.SystemPrompt.Sections = []state.Section{{Name: "role", Title: "Role", Stability: state.Immutable, Text: "You test."}}
	filler := unicode(size)
	for i := range n {
		answer := fmt.Sprintf("answer %05d %s", i, filler)
		if i == n-1 && last > 0 {
			answer = unicode(last)
		}
		st.Turns = append(st.Turns, &state.Turn{
			UserInput: state.NewTextMessage(state.UserInput, "user", fmt.Sprintf("question %05d", i)),
			Steps: []*state.Step{{
				CommitSequence: uint64(i) + 1,
				ModelResponse:  &state.Message{Type: state.ModelResponse, Role: "assistant", Content: []state.Content{state.TextContent(answer)}},
			}},
		})
	}
	st.Loop.CommittedSequence = uint64(n)
	return st
}

// unicode is valid text of about n bytes whose characters take one to four.
func unicode(n int) string { return strings.Repeat("aé漢😀", n/10) }

type page struct {
	Next     uint64 `json:"next"`
	NextStep uint64 `json:"next_step"`
	Total    uint64 `json:"total"`
	Turns    []struct {
		Index uint64 `json:"index"`
		Steps []struct {
			AnswerSource rig.Object `json:"answer_source"`
		} `json:"steps"`
	} `json:"turns"`
}

func history(r *rig.Rig, start, step uint64) (p page) {
	r.T.Helper()
	r.Payload(rig.Op("history", "request_id", "h", "start", start, "step", step))
	e := r.Expect("history")
	if len(e.Data) > 252<<10 {
		r.T.Errorf("page of %d bytes", len(e.Data))
	}
	r.Into(e, &p)
	return p
}

// read pages through the first part of an answer.
func read(r *rig.Rig, source rig.Object) (text string, pages int) {
	r.T.Helper()
	var out strings.Builder
	for {
		r.Payload(rig.Op("answer", "request_id", "a", "source", source, "part", 0, "offset", out.Len()))
		e := r.Expect("answer")
		raw := e.Field("raw")
		if len(raw) > 32<<10 || raw == "" {
			r.T.Fatalf("answer page of %d bytes", len(raw))
		}
		out.WriteString(raw)
		if pages++; string(e.Value("done")) == "true" {
			return out.String(), pages
		}
	}
}

// TestLongConversation is a session of 2,000 turns and 50 MB: it starts, all of it can be
// paged, a 5 MB answer too, and it can be compacted.
func TestLongConversation(t *testing.T) {
	const turns, answer = 2000, 5 << 20
	r := rig.New(t, rig.Reply{Text: "the summary"}, rig.Reply{Text: "after"})
	r.Put(conversation(turns, 22_500, answer))
	info, err := os.Stat(r.StatePath())
	if err != nil || info.Size() < 50_000_000 {
		t.Fatalf("a state of %d bytes, %v", info.Size(), err)
	}
	began := time.Now()
	p := r.Online()
	t.Logf("state of %d MB, ready after %v", info.Size()/1_000_000, time.Since(began).Round(time.Millisecond))

	began = time.Now()
	skip := uint64(0)
	if rig.Race {
		skip = 90 // the test itself is slow then: every tenth page
	}
	pages, next := 0, uint64(0)
	var last rig.Object
	for at := (page{}); pages == 0 || at.Next < at.Total; pages++ {
		at = history(r, next, 0)
		for _, turn := range at.Turns {
			if turn.Index != next {
				t.Fatalf("turn %d, want %d", turn.Index, next)
			}
			next++
			last = turn.Steps[0].AnswerSource
		}
		if next != at.Next || at.NextStep != 0 || at.Total != turns {
			t.Fatalf("next %d.%d of %d after turn %d", at.Next, at.NextStep, at.Total, next-1)
		}
		next = min(next+skip, turns-1)
	}
	t.Logf("%d pages in %v", pages, time.Since(began).Round(time.Millisecond))

	began = time.Now()
	text, n := read(r, last)
	if text != unicode(answer) {
		t.Error("the long answer differs")
	}
	t.Logf("an answer of %d bytes over %d pages in %v", len(text), n, time.Since(began).Round(time.Millisecond))

	began = time.Now()
	r.Payload(rig.Op("compact", "request_id", "c"))
	r.Completes()
	t.Logf("compacted in %v", time.Since(began).Round(time.Millisecond))
	if h := history(r, 0, 0); h.Total != 0 {
		t.Errorf("%d turns after compaction", h.Total)
	}
	r.Payload(rig.Op("continue", "request_id", "q"))
	r.Completes()
	p.Stop()
}
