package display_test

import (
	"encoding/json/jsontext"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

func value(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%.100s: %v", text, err)
	}
	return v
}

func object(t testing.TB, text string) state.Object {
	t.Helper()
	o, err := value(t, text).Object()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAppendValue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	numbers := "[" + strings.Repeat("1,", 99) + "1]"
	tests := []struct {
		name, text, want string
		budget           int
	}{
		{"verbatim", `{"a":[1.50,"x",null,true]}`, `{"a":[1.50,"x",null,true]}`, 1024},
		{"whole string fits", `"` + long + `"`, `"` + long + `"`, 8192},
		{"string", `"` + long + `"`, `{"display_truncated":true,"bytes":3000,"preview":"` + long[:1024-80] + `"}`, 1024},
		{"long member", `{"a":"` + long + `","b":2}`, `{"a":{"display_truncated":true,"bytes":3000,"preview":"` + long[:1024] + `"},"b":2}`, 2000},
		{
			"items", `{"n":` + numbers + `,"s":"` + long + `"}`,
			`{"n":[` + strings.Repeat("1,", 64) + `{"display_omitted":true,"omitted_items":36}],"s":{"display_truncated":true,"bytes":3000,"preview":"` + long[:1024] + `"}}`, 3000,
		},
		{
			"depth", strings.Repeat("[", 14) + `"deep"` + strings.Repeat("]", 14),
			strings.Repeat("[", 12) + `{"display_truncated":true,"bytes":10}` + strings.Repeat("]", 12), 1024,
		},
		{
			"long key", `{"` + strings.Repeat("k", 129) + `":1,"s":"` + long + `"}`,
			`{"s":{"display_truncated":true,"bytes":3000,"preview":"` + long[:1024] + `"},"display_omitted":true,"omitted_items":1}`, 2000,
		},
		{
			"marker's own name", `{"display_omitted":0,"s":"` + long + `"}`,
			`{"s":{"display_truncated":true,"bytes":3000,"preview":"` + long[:1024] + `"},"display_omitted":true,"omitted_items":1}`, 2000,
		},
		{"all too much", `["` + long + `"]`, `{"display_truncated":true,"bytes":3004,"preview":"[\"` + long[:512-80-3] + `"}`, 512},
		{"escapes count once", `"` + strings.Repeat(`\n`, 600) + `"`, `{"display_truncated":true,"bytes":600,"preview":"` + strings.Repeat(`\n`, 216) + `"}`, 512},
		{"whole characters", `"` + strings.Repeat(`€`, 300) + `"`, `{"display_truncated":true,"bytes":900,"preview":"` + strings.Repeat(`€`, 144) + `"}`, 512},
	}
	for _, tt := range tests {
		got := string(display.AppendValue(nil, value(t, tt.text), tt.budget))
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if got := string(display.AppendValue(nil, state.Value{}, 512)); got != "null" {
		t.Errorf("unset: %s", got)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	call := state.Call{
		Type: state.ReadOnly, Security: state.DefaultDeny, ID: "c1", Name: "read_text",
		Arguments: value(t, `"{not json"`), Extras: object(t, `{"index":0}`),
	}
	want := `[{"arguments":"{not json","extras":{"index":0},"id":"c1","name":"read_text","security":"default_deny","type":"read_only"}]`
	if got := string(display.Calls([]state.Call{call})); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := string(display.Calls(nil)); got != "[]" {
		t.Errorf("got %s", got)
	}
	got := string(display.Calls(make([]state.Call, 70)))
	if !strings.HasSuffix(got, `,{"display_omitted":true,"omitted_items":6}]`) || strings.Count(got, `"arguments":{}`) != 64 {
		t.Errorf("got %s", got)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	results := []state.Result{
		{
			Call:   state.Call{Type: state.SerialWrite, Security: state.Trusted, ID: "c1", Name: "n", Arguments: value(t, `{"a":1}`)},
			Output: state.Content{Type: "text", Modality: "text", Raw: "ok"},
			Extras: object(t, `{"loop_skipped":true}`),
		},
		{
			Call:   state.Call{ID: "c2", Name: "n", Arguments: value(t, `{}`)},
			Output: state.Content{Type: "text", Modality: "text", Raw: big},
			Extras: object(t, `{"status":"failed","loop_skipped":true,"z":"`+big+`","error":{"stage":"invoke","message":"`+big+`","os":5}}`),
		},
		{
			Call:   state.Call{ID: "c3", Arguments: value(t, `{}`)},
			Output: state.Content{Type: "binary", Modality: "image", Raw: "aGk="},
			Extras: object(t, `{"a":"kept","error":{"message":"`+strings.Repeat("m", 600)+`","stage":"`+strings.Repeat("s", 200)+`"}}`),
		},
	}
	want := `[{"output":{"type":"text","raw":"ok","modality":"text"},"query":{"arguments":{"a":1},"id":"c1","name":"n","security":"trusted","type":"serial_write"},"extras":{"loop_skipped":true}},` +
		`{"output":{"type":"text","raw":"` + big[:8192] + `","modality":"text","truncated":true,"bytes":1048576},"query":{"arguments":{},"id":"c2","name":"n","security":"","type":""},` +
		`"extras":{"error":{"message":"` + big[:1024] + `","stage":"invoke"},"loop_skipped":true,"status":"failed","display_truncated":true,"bytes":2097245}},` +
		`{"output":{"type":"binary","raw":"","modality":"image","truncated":true,"bytes":4},"query":{"arguments":{},"id":"c3","name":"","security":"","type":""},` +
		`"extras":{"error":{"message":"` + strings.Repeat("m", 600) + `","stage":"` + strings.Repeat("s", 128) + `"},"a":"kept"}}]`
	got := string(display.Results(results))
	if got != want {
		t.Errorf("got  %s\nwant %s", abridge(got), abridge(want))
	}
}

func abridge(s string) string {
	for _, c := range []string{"x", "m"} {
		s = strings.ReplaceAll(s, strings.Repeat(c, 100), "…")
	}
	return s
}

func TestResponse(t *testing.T) {
	t.Parallel()
	step := &state.Step{CommitSequence: 7, ModelResponse: &state.Message{
		Type: state.ModelResponse, Role: "assistant",
		Content:   []state.Content{{Type: "text", Modality: "text", Raw: "hi"}, {Type: "binary", Modality: "image", Raw: "aGk="}},
		Reasoning: &state.Content{Type: "text", Modality: "text", Raw: strings.Repeat("r", 5000)},
		Calls:     []state.Call{{ID: "c", Name: "n", Type: state.ReadOnly, Security: state.DefaultDeny}},
		Cost:      &state.TokenCost{Prompt: 1, Generated: 2},
	}}
	source := display.Source("w", 3, 4, step)
	got, err := display.Response(step.ModelResponse, source)
	want := `{"type":"model_response","role":"assistant","content":[{"type":"text","raw":"hi","modality":"text"},{"type":"binary","raw":"","modality":"image","truncated":true,"bytes":4}],` +
		`"reasoning":{"type":"text","raw":"` + strings.Repeat("r", 4096) + `","modality":"text","truncated":true,"bytes":5000},` +
		`"invokes":[{"arguments":{},"id":"c","name":"n","security":"default_deny","type":"read_only"}],"cost":{"prompt":1,"generated":2,"cache_hit":0},"omitted_parts":0,` +
		`"answer_source":{"worker_id":"w","turn":3,"step":4,"commit_sequence":"7","fingerprint":"` + source.Fingerprint + `"},"commit_sequence":"7"}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// sha256sum of `{"bytes":2,"modality":"text","type":"text"}hi{"bytes":0,"modality":"image","type":"binary"}`.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	got := display.Fingerprint([]state.Content{{Type: "text", Modality: "text", Raw: "hi"}, {Type: "binary", Modality: "image"}})
	if want := "af22d7b749579f17184863c185c5b6167f795daccc199329865ca4cec2c102ad"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	text := func(n int) state.Content {
		return state.Content{Type: "text", Modality: "text", Raw: strings.Repeat("x", n)}
	}
	parts, omitted := display.Parts(make([]state.Content, 200), wire.LiveAnswer)
	if len(parts) != 128 || omitted != 72 {
		t.Errorf("%d parts, %d omitted", len(parts), omitted)
	}
	parts, omitted = display.Parts([]state.Content{text(100), text(5000), text(1)}, 4096)
	if len(parts) != 2 || omitted != 1 || parts[0].Truncated || !parts[1].Truncated || *parts[1].Bytes != 5000 {
		t.Errorf("%d parts, %d omitted", len(parts), omitted)
	}
	user, omitted := display.UserParts([]state.Content{
		text(5000), {Type: "external_ref", Modality: "image", Raw: strings.Repeat("u", 3000)}, {Type: "binary", Modality: "audio", Raw: "QQ=="}, text(4096), text(1),
	})
	lengths := fmt.Sprint(len(user[0].Raw), len(user[1].Raw), len(user[2].Raw), len(user[3].Raw), omitted)
	if lengths != "4096 2048 0 4096 1" || user[3].Truncated {
		t.Errorf("got %s", lengths)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	p := &state.LoopProgress{Status: state.StatusFailed, Phase: state.PhaseProjection, CompletedExchanges: 2, CommittedSequence: 9, Error: "e", Pending: make([]state.Result, 1)}
	want := `{"committed_response_sequence":9,"completed_exchanges":2,"error":"e","pending_results":[{"output":{"type":"","raw":"","modality":""},"query":{"arguments":{},"id":"","name":"","security":"","type":""}}],"phase":"projection","status":"failed"}`
	if got := string(display.Loop(p)); got != want {
		t.Errorf("got %s", got)
	}
	if display.Loop(nil) != nil {
		t.Error("no progress is shown")
	}
}

// What a projection cuts must not be copied: the cost follows the limits.
func TestProjectionsDoNotCopyWhatTheyCut(t *testing.T) { // not parallel: it measures allocations
	huge := strings.Repeat("x", 16<<20)
	calls := []state.Call{{Arguments: state.StringValue(huge)}}
	results := []state.Result{{Output: state.Content{Type: "text", Raw: huge}, Extras: state.ObjectFrom([]state.Member{{Name: "a", Value: state.StringValue(huge)}})}}
	m := &state.Message{Content: []state.Content{{Type: "text", Modality: "text", Raw: huge}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	display.Calls(calls)
	display.Results(results)
	_, _ = display.Response(m, wire.AnswerSource{})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes allocated for copies of at most 1 MiB", n)
	}
}

// Whatever a record holds, its event is strict JSON below the limit.
func TestEventsStayBelowTheLimit(t *testing.T) {
	t.Parallel()
	filler := rapid.SampledFrom([]string{"x", "\x01", "\"", "\\", "€", "\U0001F600", "\xff", "ü\n"})
	text := func(t *rapid.T, name string, most int) string {
		s := filler.Draw(t, name)
		return strings.Repeat(s, rapid.IntRange(0, most/len(s)).Draw(t, name+" length"))
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 1, 2, 1, 1, 1, 3, 70}).Draw(t, "entries")
		arguments := drawValue(t, text)
		extras := state.ObjectFrom([]state.Member{
			{Name: "error", Value: state.ObjectFrom([]state.Member{
				{Name: "message", Value: state.StringValue(text(t, "message", 3000))},
				{Name: "stage", Value: state.StringValue(text(t, "stage", 2000))},
			}).Value},
			{Name: "status", Value: drawValue(t, text)},
			{Name: text(t, "key", 300), Value: drawValue(t, text)},
		})
		call := state.Call{ID: text(t, "id", 5000), Name: text(t, "name", 5000), Arguments: arguments, Extras: extras, Type: "read_only", Security: "trusted"}
		output := state.Content{Type: "text", Modality: "text", Raw: text(t, "output", 12000)}
		results := make([]state.Result, n)
		calls := make([]state.Call, n)
		for i := range results {
			results[i] = state.Result{Call: call, Output: output, Extras: extras}
			calls[i] = call
		}
		m := &state.Message{Calls: calls, Reasoning: &output, Content: make([]state.Content, n)}
		for i := range m.Content {
			m.Content[i] = output
		}
		response, err := display.Response(m, wire.AnswerSource{})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range []jsontext.Value{display.Calls(calls), display.Results(results), response, display.Loop(&state.LoopProgress{Pending: results, Error: output.Raw})} {
			if len(data) > wire.MaxEvent-16<<10 || !data.IsValid() {
				t.Fatalf("%d bytes, valid %v: %.300s", len(data), data.IsValid(), data)
			}
		}
	})
}

func drawValue(t *rapid.T, text func(*rapid.T, string, int) string) state.Value {
	leaf := state.StringValue(text(t, "leaf", 5000))
	for range rapid.IntRange(0, 14).Draw(t, "levels") {
		members := []state.Member{{Name: text(t, "member", 200), Value: leaf}}
		for i := range rapid.IntRange(0, 5).Draw(t, "siblings") {
			members = append(members, state.Member{Name: fmt.Sprint("k", i), Value: state.StringValue(text(t, "sibling", 1500))})
		}
		for i := range members {
			members[i].Name = strings.ToValidUTF8(members[i].Name, "?")
		}
		leaf = state.ObjectFrom(members).Value
	}
	return leaf
}

func FuzzAppendValue(f *testing.F) {
	f.Add(`{"a":[1,"x\n€",{"b":null}],"c":"\\\""}`, 512)
	f.Add(`"`+strings.Repeat(`\u0001`, 200)+`"`, 512)
	f.Fuzz(func(t *testing.T, text string, budget int) {
		v, err := state.ParseValue([]byte(text))
		if err != nil {
			return
		}
		budget = 80 + min(max(budget, 0), 8192)
		got := jsontext.Value(display.AppendValue(nil, v, budget))
		if !got.IsValid() || len(got) > budget {
			t.Fatalf("%d of %d bytes: %s", len(got), budget, got)
		}
	})
}
