package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
	"simplex/wire"
)

func ptr[T any](v T) *T { return &v }

// The bytes of each event's data.
func TestEventData(t *testing.T) {
	t.Parallel()
	part := wire.Part{Type: "text", Raw: "a\"ü\u2028<", Modality: "text"}
	cut := wire.Part{Type: "text", Raw: "a", Modality: "text", Truncated: true, Bytes: ptr(uint64(9))}
	from := wire.AnswerSource{WorkerID: "w", Turn: 1, Step: 2, CommitSequence: 1<<64 - 1, Fingerprint: "f"}
	run := &wire.Execution{WorkerID: "w", RequestID: "q", RunID: "r"}
	tests := []struct {
		name wire.EventName
		data any
		want string
	}{
		{wire.EventReady, wire.Status{}, `{"active":false,"stopping":false,"storage_failed":false,"rejected_payloads":0,"rejected_queries":0,"unreported_rejections":0,"event_queue":{"count":0,"bytes":0,"transport_bytes":0},"memory_retention":{"max_archives":0},"capabilities":[]}`},
		{wire.EventStatus, wire.Status{
			Active: true, RejectedPayloads: 1, RejectedQueries: 2, UnreportedRejection: 3,
			EventQueue: wire.EventQueue{Count: 4, Bytes: 5, TransportBytes: 6}, MemoryRetention: wire.MemoryRetention{MaxArchives: 5},
			Capabilities: []string{wire.CapHistory}, AutoCompact: &wire.AutoCompact{Attempts: 1, Limit: 5, Threshold: 9}, Loop: []byte(`{"phase":"ready"}`),
		}, `{"active":true,"stopping":false,"storage_failed":false,"rejected_payloads":1,"rejected_queries":2,"unreported_rejections":3,"event_queue":{"count":4,"bytes":5,"transport_bytes":6},"memory_retention":{"max_archives":5},"capabilities":["session-history"],"auto_compact":{"attempts":1,"succeeded":0,"limit":5,"threshold":9},"loop":{"phase":"ready"}}`},
		{wire.EventOptions, wire.OptionsData{
			Model:        wire.OptionCategory{Available: []wire.OptionChoice{{Name: "effort", Options: []string{"low"}}}},
			Confirmation: wire.ConfirmationOptions(wire.ModeAsk),
		}, `{"model":{"available":[{"name":"effort","options":["low"]}],"current":{}},"tools":{"available":[],"current":{}},"confirmation":{"available":[{"name":"mode","options":["ask","approve","deny"]}],"current":{"mode":"ask"}}}`},
		{wire.EventInputAdmitted, wire.InputAdmitted{Operation: wire.OpCompact}, `{"operation":"compact"}`},
		{wire.EventInputRejected, wire.NewInputRejected([]byte(`"q"`), nil, "full", wire.CodePayloadFull), `{"request_id":"q","message":"full","code":"payload_queue_full"}`},
		{wire.EventHistoryError, wire.NewQueryFailed(wire.OpHistory, nil, "m", ""), `{"request_id":null,"message":"m"}`},
		{wire.EventAnswerError, wire.NewQueryFailed(wire.OpAnswer, []byte(`"q"`), "m", wire.CodeQueryFull), `{"request_id":"q","message":"m","code":"query_queue_full"}`},
		{wire.EventPersisted, wire.Persisted{Boundary: "run_finished", Format: "json"}, `{"boundary":"run_finished","format":"json"}`},
		{wire.EventExportError, wire.ExportError{Message: "m"}, `{"message":"m"}`},
		{wire.EventError, wire.ErrorData{Message: "m\xff"}, `{"message":"m` + "\uFFFD" + `"}`},
		{wire.EventError, wire.StorageError("m"), `{"message":"m","durable":false}`},
		{wire.EventModelDelta, wire.ModelDelta{Kind: "text", Text: "x"}, `{"kind":"text","text":"x"}`},
		{wire.EventRunFinished, wire.RunFinished{Status: wire.RunCompleted, Exchanges: 2, Durable: true}, `{"status":"completed","error":"","exchanges":2,"durable":true}`},
		{wire.EventRunFinished, wire.RunFinished{
			Status: wire.RunFailed, Error: "e", Failure: &wire.Failure{Stage: "model_request", CanContinue: true, Operation: "task"},
			TaskExchanges: ptr(uint64(0)), CompactExchanges: ptr(uint64(3)), AutoCompact: &wire.AutoCompact{},
			RejectedQueries: 1, Unreported: 2, OmittedDisplay: 3, OmittedQuery: 4, OmittedFeedback: 5, CoalescedMetadata: 6,
		}, `{"status":"failed","error":"e","exchanges":0,"durable":false,"failure":{"stage":"model_request","can_continue":true,"operation":"task"},"task_exchanges":0,"compact_exchanges":3,"auto_compact":{"attempts":0,"succeeded":0,"limit":0,"threshold":0},"rejected_queries":1,"unreported_rejections":2,"omitted_display_events":3,"omitted_query_events":4,"omitted_feedback_events":5,"coalesced_metadata_events":6}`},
		{wire.EventCompactFinished, wire.CompactFinished{Summary: "s", MemoryFile: "/m", RemovedTurns: 1, Revision: 2, Durable: true, ArchiveCleanup: &wire.ArchiveCleanup{RemovedArchives: 1}}, `{"summary":"s","memory_file":"/m","removed_turns":1,"revision":2,"durable":true,"archive_cleanup":{"removed_archives":1,"removed_bytes":0}}`},
		{wire.EventCompactFinished, wire.CompactFinished{Durable: true, Origin: "automatic", Cycle: 1, CallID: "c", ArchiveCleanupError: "x"}, `{"summary":"","memory_file":"","removed_turns":0,"revision":0,"durable":true,"origin":"automatic","cycle":1,"call_id":"c","archive_cleanup_error":"x"}`},
		{wire.EventHistory, wire.HistoryPage{RequestID: "q", Total: 1}, `{"request_id":"q","revision":0,"start":0,"step":0,"next":0,"next_step":0,"total":1,"turns":[]}`},
		{wire.EventHistory, wire.TurnView{User: []wire.Part{part, cut}, Source: run, InternalInput: "i"}, `{"index":0,"user":[{"type":"text","raw":"a\"ü` + "\u2028" + `<","modality":"text"},{"type":"text","raw":"a","modality":"text","truncated":true,"bytes":9}],"omitted_user_parts":0,"internal_input":"i","source":{"worker_id":"w","request_id":"q","run_id":"r"},"steps":[],"omitted_steps":0}`},
		{wire.EventHistory, wire.StepView{CommitSequence: 7, AnswerSource: &from, Execution: run, Reasoning: &part}, `{"index":0,"content":[],"reasoning":{"type":"text","raw":"a\"ü` + "\u2028" + `<","modality":"text"},"tool_calls":0,"commit_sequence":"7","execution":{"worker_id":"w","request_id":"q","run_id":"r"},"answer_source":{"worker_id":"w","turn":1,"step":2,"commit_sequence":"18446744073709551615","fingerprint":"f"},"omitted_parts":0}`},
		{wire.EventAnswer, wire.AnswerData{RequestID: "q", Source: from, Raw: "x", Type: state.TypeText, Modality: state.ModalityText, Bytes: 1, NextOffset: 1, NextPart: 1, TotalParts: 1, Done: true}, `{"request_id":"q","source":{"worker_id":"w","turn":1,"step":2,"commit_sequence":"18446744073709551615","fingerprint":"f"},"part":0,"offset":0,"raw":"x","type":"text","modality":"text","bytes":1,"next_offset":1,"next_part":1,"total_parts":1,"done":true}`},
	}
	for _, tt := range tests {
		got, err := wire.EncodeData(tt.data)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, got, tt.want)
		}
		if !tt.name.Known() {
			t.Errorf("%s is not known", tt.name)
		}
	}
}

func TestAppendEvent(t *testing.T) { // not parallel: it counts allocations
	e := wire.Event{Name: wire.EventReady, EventIDs: wire.EventIDs{SessionID: "s", WorkerID: "w"}, Sequence: 1}
	want := `{"type":"event","event":"ready","session_id":"s","worker_id":"w","request_id":"","run_id":"","sequence":1,"data":{}}`
	if got := string(wire.AppendEvent(nil, &e)); got != want {
		t.Errorf("got %s", got)
	}
	e.RequestID, e.RunID, e.Sequence, e.Data = "q\"\n", "r\xff", 1<<64-1, []byte(`[1]`)
	want = `>{"type":"event","event":"ready","session_id":"s","worker_id":"w","request_id":"q\"\n","run_id":"r` + "\uFFFD" + `","sequence":18446744073709551615,"data":[1]}`
	if got := string(wire.AppendEvent([]byte(">"), &e)); got != want {
		t.Errorf("got %s", got)
	}
	if n := testing.AllocsPerRun(100, func() { wire.AppendEvent(make([]byte, 0, 512), &e) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func TestEventRoundTrip(t *testing.T) {
	t.Parallel()
	id := rapid.StringN(0, 20, wire.MaxID)
	rapid.Check(t, func(t *rapid.T) {
		e := wire.Event{
			Name: wire.EventName(rapid.StringN(1, 20, wire.MaxID).Draw(t, "name")),
			EventIDs: wire.EventIDs{
				SessionID: rapid.StringMatching(`[A-Za-z0-9_-]{1,128}`).Draw(t, "session"),
				WorkerID:  rapid.StringN(1, 20, wire.MaxID).Draw(t, "worker"),
				RequestID: id.Draw(t, "request"), RunID: id.Draw(t, "run"),
			},
			Sequence: rapid.Uint64().Draw(t, "sequence"),
			Data:     []byte(rapid.SampledFrom([]string{`{}`, `[]`, `{"a":[1,"ü"]}`}).Draw(t, "data")),
		}
		raw := wire.AppendEvent(nil, &e)
		if len(raw) > wire.EventSize(&e) {
			t.Fatalf("%d bytes, said at most %d", len(raw), wire.EventSize(&e))
		}
		got, err := wire.DecodeEvent(raw)
		if err != nil || len(got.Issues) > 0 || !got.HasSequence {
			t.Fatalf("%s: %v %v", raw, err, got.Issues)
		}
		if string(wire.AppendEvent(nil, &got.Event)) != string(raw) {
			t.Fatalf("came back as %+v", got)
		}
	})
}

func TestDecodeEvent(t *testing.T) {
	t.Parallel()
	const head = `{"type":"event","event":"later","session_id":"s","worker_id":"w"`
	tests := []struct {
		raw      string
		sequence uint64
		issues   int
	}{
		{head + `,"request_id":"","run_id":"","sequence":18446744073709551615,"data":[],"x":1}`, 1<<64 - 1, 0},
		{head + `,"request_id":"","run_id":"","sequence":"9007199254740993","data":{}}`, 9007199254740993, 0},
		{head + `,"request_id":"","run_id":"","sequence":18446744073709551616,"data":{}}`, 0, 1},
		{head + `,"request_id":"","run_id":"","sequence":-1,"data":{}}`, 0, 1},
		{head + `,"request_id":7,"run_id":null,"sequence":1.5}`, 0, 4},
		{head + `}`, 0, 4},
	}
	for _, tt := range tests {
		got, err := wire.DecodeEvent([]byte(tt.raw))
		if err != nil || got.Sequence != tt.sequence || len(got.Issues) != tt.issues || got.Name.Known() {
			t.Errorf("%s: %+v, %v", tt.raw, got, err)
		}
	}
	long := strings.Repeat("x", 129)
	for _, raw := range []string{
		``, `[]`, `{}`, `{"type":"payload","data":{}}`, `{"type":"event"}`, head, strings.Replace(head, "later", "", 1) + `}`,
		strings.Replace(head, `"w"`, `""`, 1) + `}`, strings.Replace(head, `"w"`, `1`, 1) + `}`, strings.Replace(head, `"s"`, `"s s"`, 1) + `}`,
		strings.Replace(head, `"s"`, `""`, 1) + `}`, strings.Replace(head, `"w"`, `"`+long+`"`, 1) + `}`, head + `,"run_id":"` + long + `"}`,
		strings.Replace(head, "later", long, 1) + `}`, head + `} {}`, head + `,"event":"x"}`,
	} {
		_, err := wire.DecodeEvent([]byte(raw))
		if _, ok := errors.AsType[*wire.FrameError](err); !ok {
			t.Errorf("%.90s: %v", raw, err)
		}
	}
}

// A message text of any size leaves the event below its limit.
func TestNoticeIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("\x01", 2<<20), strings.Repeat("\xff", 2<<20), strings.Repeat("ü", 1<<20)} {
		got, err := wire.EncodeData(wire.ErrorData{Message: wire.Notice(text)})
		if err != nil || len(got) > 7*wire.MaxNotice || !strings.Contains(string(got), "bytes omitted") {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if got, _ := wire.EncodeData(wire.Notice("short")); string(got) != `"short"` {
		t.Errorf("got %s", got)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add([]byte(`{"type":"event","event":"later","session_id":"s","worker_id":"w","sequence":1,"data":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, err := wire.DecodeEvent(raw); err == nil && got.HasSequence && got.Data != nil {
			again, err := wire.DecodeEvent(wire.AppendEvent(nil, &got.Event))
			if err != nil || fmt.Sprint(again.EventIDs) != fmt.Sprint(got.EventIDs) || again.Sequence != got.Sequence {
				t.Fatalf("%v: %v", again, err)
			}
		}
	})
}
