package conformance

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"simplex/hub/fakehub"
	"simplex/state"
	"simplex/test/conformance/rig"
)

func foreign(t *testing.T) {
	binary := []state.Content{{Type: state.TypeBinary, Modality: state.ModalityImage, Raw: "QUJD"}, state.TextContent("aé")}
	r := rig.New(t)
	r.Put(fresh(binary, "first"))
	p := r.Online()
	ok := *ask(r, 0, 0).Turns[0].Steps[0].AnswerSource
	change := func(f func(*source)) source {
		s := ok
		f(&s)
		return s
	}
	for name, q := range map[string]object{
		"another worker":      {"source": change(func(s *source) { s.WorkerID = "w" }), "part": 1, "offset": 0},
		"another turn":        {"source": change(func(s *source) { s.Turn = 1 }), "part": 1, "offset": 0},
		"another step":        {"source": change(func(s *source) { s.Step = 1 }), "part": 1, "offset": 0},
		"another sequence":    {"source": change(func(s *source) { s.CommitSequence = "2" }), "part": 1, "offset": 0},
		"another fingerprint": {"source": change(func(s *source) { s.Fingerprint = strings.Repeat("0", 64) }), "part": 1, "offset": 0},
		"no such part":        {"source": ok, "part": 2, "offset": 0},
		"binary":              {"source": ok, "part": 0, "offset": 0},
		"behind the end":      {"source": ok, "part": 1, "offset": 4},
		"within a character":  {"source": ok, "part": 1, "offset": 2},
		"negative offset":     {"source": ok, "part": 1, "offset": -1},
		"fraction":            {"source": ok, "part": 1.5, "offset": 0},
		"beyond 2^53":         {"source": ok, "part": 1, "offset": uint64(1) << 53},
		"no part":             {"source": ok, "offset": 0},
		"more members":        {"source": ok, "part": 1, "offset": 0, "x": 1},
		"source null":         {"source": nil, "part": 1, "offset": 0},
		"sequence a number":   {"source": rig.Object{"worker_id": ok.WorkerID, "turn": 0, "step": 0, "commit_sequence": 1, "fingerprint": ok.Fingerprint}, "part": 1, "offset": 0},
	} {
		r.Payload(rig.With(q, "operation", "answer", "request_id", name))
		e := r.Expect("answer_error")
		if e.Field("request_id") != name || e.Field("message") == "" || e.Value("code") != nil {
			t.Errorf("%s: %s", name, e.Data)
		}
	}
	r.Payload(rig.Op("answer", "request_id", "a", "source", ok, "part", 1, "offset", 0))
	if e := r.Expect("answer"); e.Field("raw") != "aé" || string(e.Value("done")) != "true" {
		t.Errorf("%s", e.Data)
	}
	p.Stop()
}

func badQueries(t *testing.T) {
	r := rig.New(t)
	r.Put(fresh(textOf("ok"), "first"))
	p := r.Online()
	for name, more := range map[string]object{
		"content": {"content": rig.Text("x")}, "options": {"options": object{}}, "text": {"text": nil}, "role": {"role": nil},
		"invokes": {"invokes": nil}, "invoke_return": {"invoke_return": nil}, "type": {"type": nil},
		"limit 0": {"limit": 0}, "limit 11": {"limit": 11}, "limit a text": {"limit": "1"}, "limit null": {"limit": nil}, "limit 1.0": {"limit": 1.5},
		"start negative": {"start": -1}, "start behind the end": {"start": 2}, "step behind the end": {"start": 0, "step": 1}, "step at the end": {"start": 1, "step": 1},
		"start a text": {"start": "0"}, "step null": {"step": nil},
	} {
		q := rig.Op("history", "request_id", name)
		for k, v := range more {
			q[k] = v
		}
		r.Payload(q)
		if e := r.Expect("history_error"); e.Field("request_id") != name || e.Field("message") == "" || e.Value("code") != nil {
			t.Errorf("%s: %s", name, e.Data)
		}
	}
	for _, op := range []string{"history", "answer"} {
		r.Payload(rig.Op(op))
		r.Expect(op + "_error")
	}
	if h := ask(r, 0, 0); h.Total != 1 {
		t.Error("queries changed something")
	}
	p.Stop()
}

func queryBounds(t *testing.T) {
	r := rig.New(t)
	p := r.Online()
	r.Payload(rig.Op("history", "request_id", "big", "unknown", strings.Repeat("x", 16<<10)))
	if e := r.Expect("history_error"); e.Field("code") != "query_too_large" || e.Field("request_id") != "big" {
		t.Errorf("%s", e.Data)
	}
	if e := r.Status(); r.Number(e, "rejected_queries") != 1 {
		t.Errorf("%s", e.Data)
	}
	p.Stop()
}

// queryQueue sends more queries at once than a queue of one holds. Each is answered,
// refused, or counted as a refusal that was not told.
func queryQueue(t *testing.T) {
	const asked = 300
	r := rig.New(t)
	r.Client = "query_capacity: 1"
	r.Put(fresh(textOf("ok"), words(10)...))
	p := r.Online()
	p.Signal(syscall.SIGSTOP) // until all are there
	for i := range asked {
		r.Payload(rig.Op("history", "request_id", fmt.Sprint(i)))
	}
	r.Signal(rig.Op("status"))
	p.Signal(syscall.SIGCONT)
	answered, refused := 0, 0
	var last fakehub.Event
	for told := -1; answered+refused+max(told, 0) < asked || told < 0; {
		e := r.Next()
		switch e.Name {
		case "history":
			answered++
		case "history_error":
			if refused++; e.Field("code") != "query_queue_full" || e.Field("request_id") == "" {
				t.Errorf("%s", e.Data)
			}
		case "status":
			last = e
			if told = int(r.Number(e, "unreported_rejections")); answered+refused+told < asked {
				r.Signal(rig.Op("status")) // some replies are still on their way
			}
		}
	}
	unreported := int(r.Number(last, "unreported_rejections"))
	if got := r.Number(last, "rejected_queries"); int(got) != asked-answered || refused == 0 || refused+unreported != int(got) {
		t.Errorf("%d answered, %d refused, %d unreported: %s", answered, refused, unreported, last.Data)
	}
	p.Stop()
}
