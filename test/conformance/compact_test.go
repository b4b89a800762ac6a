package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"simplex/state"
	"simplex/test/conformance/rig"
)

// stuffed is a session that is worth compacting.
func stuffed() *state.State { return fresh(textOf(strings.Repeat("long answer. ", 3000)), words(4)...) }

var archiveName = regexp.MustCompile(`^[0-9]{20}-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z-[0-9a-f-]{36}$`)

func archives(t *testing.T, r *rig.Rig) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.Dir, "session", "memory"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"8", "by hand: archive, replacement, events", byHand},
		{"8", "continue from memory alone", fromMemory},
		{"8", "a summary that is refused changes nothing", refusedSummaries},
		{"8", "cancel during the summary changes nothing", cancelledSummary},
		{"8", "archives beyond the retention go, strangers stay", retention},
		{"8", "automatic: the threshold", autoThreshold},
		{"8", "automatic: the exchange limit", autoLimit},
		{"8", "automatic: too frequent", autoFrequent},
		{"8", "automatic: too many", autoMany},
		{"8", "automatic: a failed summary fails the request", autoFailed},
		{"8", "a threshold needs persistence", func(t *testing.T) {
			r := rig.New(t)
			r.Worker, r.Persistence = "auto_compact_threshold: 5", "enabled: false"
			r.Start().Exits(1)
		}},
	})
}

func byHand(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "the summary\nin two lines", Tokens: 7})
	r.Put(stuffed())
	p := r.Online()
	old := ask(r, 0, 0)
	r.Payload(rig.Op("compact", "request_id", "q1"))
	events := r.Until("run_finished")
	inOrder(t, events, "input_admitted", "run_started", "persisted(compact)", "compact_finished", "run_finished")
	fin, end := events[3], events[4]
	file := fin.Field("memory_file")
	dir := filepath.Base(filepath.Dir(file))
	if fin.Field("summary") != "the summary\nin two lines" || r.Number(fin, "removed_turns") != 4 || string(fin.Value("durable")) != "true" ||
		fin.Value("origin") != nil || r.Number(fin, "archive_cleanup", "removed_archives") != 0 || uint64(r.Number(fin, "revision")) <= old.Revision {
		t.Errorf("%s", fin.Data)
	}
	if !filepath.IsAbs(file) || filepath.Base(file) != "state.md" || !archiveName.MatchString(dir) || !strings.HasPrefix(dir, "00000000000000000001-") ||
		!strings.HasSuffix(dir, events[0].RunID) {
		t.Errorf("memory_file %s", file)
	}
	if end.Field("status") != "completed" || r.Number(end, "compact_exchanges") != 1 || r.Number(end, "task_exchanges") != 0 || string(end.Value("durable")) != "true" {
		t.Errorf("%s", end.Data)
	}
	if md, err := os.ReadFile(file); err != nil || !strings.Contains(string(md), "question 3") || !strings.Contains(string(md), "# Agent session") {
		t.Errorf("archive: %v", err)
	}
	request := r.Model.Last()
	if strings.Contains(request, `"tools"`) || !strings.Contains(request, "32768") {
		t.Error("the private run has tools, or was not told its size")
	}
	h := ask(r, 0, 0)
	if h.Total != 0 || h.Revision != uint64(r.Number(fin, "revision")) {
		t.Errorf("history %+v", h)
	}
	r.Payload(rig.Op("answer", "request_id", "a", "source", old.Turns[0].Steps[0].AnswerSource, "part", 0, "offset", 0))
	r.Expect("answer_error") // never another answer
	p.Stop()
	st := r.State()
	memory, ok := st.SystemPrompt.Section("memory.runtime")
	if !ok || len(st.Turns) != 0 || memory.Stability != state.Volatile || !strings.Contains(memory.Text, "the summary\nin two lines\nEND HISTORICAL_MEMORY_") ||
		!strings.Contains(memory.Text, file) || st.Loop.CommittedSequence != 5 {
		t.Errorf("memory %q, sequence %d", memory.Text, st.Loop.CommittedSequence)
	}
}

func fromMemory(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "the summary"}, rig.Reply{Text: "going on"}, rig.Reply{Text: "more"})
	r.Put(stuffed())
	p := r.Online()
	r.Payload(rig.Op("compact", "request_id", "q1"))
	r.Completes()
	p.Stop()
	p = r.Online() // the memory is in the state
	r.Payload(rig.Op("compact", "request_id", "q2"))
	r.Rejected() // nothing to compact
	r.Payload(rig.Op("continue", "request_id", "q3"))
	events := r.Until("run_finished")
	inOrder(t, events, concat([]string{"input_admitted", "run_started"}, end)...)
	if !strings.Contains(r.Model.Last(), "the summary") {
		t.Error("the memory did not reach the model")
	}
	h := ask(r, 0, 0)
	if h.Total != 1 || len(h.Turns[0].User) != 0 || h.Turns[0].InternalInput != "auto_compact_continue" || h.Turns[0].Source["request_id"] != "q3" {
		t.Errorf("%+v", h)
	}
	r.Payload(rig.Message("q4", "next"))
	r.Completes()
	p.Stop()
}

func refusedSummaries(t *testing.T) {
	bad := []rig.Reply{
		{Text: " \n\t"},
		{Text: strings.Repeat("x", 32<<10+1)},
		{Text: "s", Calls: []rig.Call{rig.Shell("c1", "echo ran >>effects")}},
		{Status: 400, Body: `{"error":{"message":"refused"}}`},
	}
	r := rig.New(t, append(bad, rig.Reply{Text: strings.Repeat("y", 32<<10)})...)
	r.Put(stuffed())
	p := r.Online()
	saved := r.Saved()
	for i := range bad {
		r.Payload(rig.Op("compact", "request_id", "q"+string(rune('1'+i))))
		end := r.Finished()
		if end.Field("status") != "failed" || end.Field("failure", "operation") != "compact" || string(end.Value("failure", "can_continue")) != "true" || end.Field("error") == "" {
			t.Errorf("%d: %s", i, end.Data)
		}
		stage := "other"
		if i == 3 {
			stage = "model_request"
		}
		if end.Field("failure", "stage") != stage {
			t.Errorf("%d: %s", i, end.Data)
		}
	}
	if r.Saved() != saved || ask(r, 0, 0).Total != 4 || len(r.Effects()) > 0 {
		t.Error("a refused summary changed the conversation")
	}
	if got := archives(t, r); len(got) != 4 { // ordinals are consumed
		t.Errorf("archives %v", got)
	}
	r.Payload(rig.Op("compact", "request_id", "q9")) // 32 KiB exactly is fine
	r.Completes()
	p.Stop()

	small := rig.New(t, rig.Reply{Text: "the summary is longer than what it would replace, by far, and saves nothing"})
	small.Put(fresh(textOf("ok"), "hi"))
	p = small.Online()
	small.Payload(rig.Op("compact", "request_id", "q1"))
	if end := small.Finished(); end.Field("status") != "failed" || small.State().Turns == nil {
		t.Errorf("%s", end.Data)
	}
	p.Stop()
}

func cancelledSummary(t *testing.T) {
	r := rig.New(t, rig.Reply{Hang: true}, rig.Reply{Text: "ok"})
	r.Put(stuffed())
	p := r.Online()
	saved := r.Saved()
	r.Payload(rig.Op("compact", "request_id", "q1"))
	r.Model.Request(t, 1)
	r.Signal(rig.Op("cancel", "run_id", r.Until("run_started")[0].RunID))
	if end := r.Finished(); end.Field("status") != "cancelled" || r.Saved() != saved {
		t.Errorf("%s", end.Data)
	}
	r.Payload(rig.Message("q2", "x"))
	r.Completes()
	p.Stop()
	if got := archives(t, r); len(got) != 1 {
		t.Errorf("archives %v", got)
	}
}

func retention(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "s1"}, rig.Reply{Text: strings.Repeat("long answer. ", 3000)}, rig.Reply{Text: "s2"},
		rig.Reply{Text: strings.Repeat("long answer. ", 3000)}, rig.Reply{Text: "s3"})
	r.Persistence = "memory_retention: { max_archives: 2 }"
	r.Put(stuffed())
	strange := filepath.Join(r.Dir, "session", "memory", "notes")
	if err := os.MkdirAll(strange, 0o700); err != nil {
		t.Fatal(err)
	}
	p := r.Online()
	for i, op := range []object{
		rig.Op("compact", "request_id", "c1"), rig.Message("m1", "x"), rig.Op("compact", "request_id", "c2"),
		rig.Message("m2", "x"), rig.Op("compact", "request_id", "c3"),
	} {
		r.Payload(op)
		events := r.Until("run_finished")
		if got := events[len(events)-1].Field("status"); got != "completed" {
			t.Fatalf("%d: %s", i, events[len(events)-1].Data)
		}
		if i == 4 && r.Number(events[3], "archive_cleanup", "removed_archives") != 1 {
			t.Errorf("%s", events[3].Data)
		}
	}
	got := archives(t, r)
	if len(got) != 3 || !strings.HasPrefix(got[0], "00000000000000000002-") || got[2] != "notes" {
		t.Errorf("%v", got)
	}
	p.Stop()
}
