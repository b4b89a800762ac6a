package state

import (
	"encoding/json/v2"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSingleRecords(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		into     any
		in, want string
	}{
		{"call", new(Call), `{"name":"n","id":"c","arguments":{"b":1.0,"a":2},"zz":1,"type":"x"}`, `{"arguments":{"a":2,"b":1.0},"id":"c","name":"n","security":"default_deny","type":"read_only","zz":1}`},
		{"call null", new(Call), `null`, `{"arguments":{},"id":"","name":"","security":"default_deny","type":"read_only"}`},
		{"content", new(Content), `{"type":"external_ref","raw":"u"}`, `{"modality":"image","raw":"u","type":"external_ref"}`},
		{"result of nulls", new(Result), `{"query":null,"output":null}`, `{"output":{"modality":"text","raw":"","type":"text"},"query":{"arguments":{},"id":"","name":"","security":"default_deny","type":"read_only"}}`},
		{"result of nothing", new(Result), `{}`, `{"output":{"modality":"text","raw":"","type":"text"},"query":{"arguments":{},"id":"","name":"","security":"default_deny","type":"read_only"}}`},
		{"message", new(Message), `{"content":{"raw":"x"}}`, `{"content":[{"modality":"text","raw":"x","type":"text"}],"role":"","type":"user_input"}`},
		{"step", new(Step), `{"model_response":null,"invoke_returns":[]}`, `{"invoke_returns":[],"model_response":{"content":[],"role":"","type":"user_input"},"retain_priority":"normal"}`},
		{"turn", new(Turn), `{"retain_priority":"pinned"}`, `{"agent_loop_step":[],"retain_priority":"pinned","user_input":{"content":[],"role":"","type":"user_input"}}`},
		{"tool", new(Tool), `{"name":"n","argument_schema":{"type":"object"}}`, `{"argument_schema":{"type":"object"},"description":"","name":"n"}`},
		{"cost", new(TokenCost), `{"prompt":18446744073709551615}`, `{"cache_hit":0,"generated":0,"prompt":18446744073709551615}`},
		{"loop", new(LoopProgress), `null`, `{"committed_response_sequence":0,"completed_exchanges":0,"error":"","pending_results":[],"phase":"ready","status":"idle"}`},
		{"meta", new(Meta), `{"session_id":"s"}`, `{"created_at":"","schema_version":1,"session_id":"s","status":"active","updated_at":""}`},
		{"prompt", new(SystemPrompt), `{"sections":[{"name":"a"}]}`, `{"heading_level":2,"sections":[{"name":"a","stability":"immutable","text":"","title":""}]}`},
		{"state", new(State), `{}`, `{"meta":{"created_at":"","schema_version":1,"session_id":"","status":"active","updated_at":""},"system_prompt":{"heading_level":2,"sections":[]},"tools":[],"turns":[]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := json.Unmarshal([]byte(c.in), c.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(c.into)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRecordErrorsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	var m Message
	err := json.Unmarshal([]byte(`{"invokes":[{},{"id":null}]}`), &m)
	var bad *DecodeError
	if !errors.As(err, &bad) || bad.Path != "/invokes/1/id" {
		t.Errorf("got %v", err)
	}
	_, err = json.Marshal(Call{Name: "\xff"})
	if !errors.Is(err, ErrInvalidUTF8) || !strings.Contains(err.Error(), "/name") {
		t.Errorf("got %v", err)
	}
}

func TestDecodeInputContent(t *testing.T) {
	t.Parallel()
	parts, err := DecodeInputContent([]byte(`[{"raw":" hi ","type":"text","modality":"document","extras":{"b":1,"a":2},"truncated":true},
		{"type":"external_ref","modality":"image","raw":"https://x"}]`))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(parts)
	want := `[{"extras":{"a":2,"b":1},"modality":"document","raw":" hi ","type":"text"},{"modality":"image","raw":"https://x","type":"external_ref"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct{ in, path, problem string }{
		{`[]`, "", "empty"},
		{`{}`, "", "array"},
		{`null`, "", "array"},
		{`[null]`, "/0", "object"},
		{`[{"modality":"text","raw":"x"}]`, "/0/type", "missing"},
		{`[{"type":"text","raw":"x"}]`, "/0/modality", "missing"},
		{`[{"type":"text","modality":"text"}]`, "/0/raw", "missing"},
		{`[{"type":"text","modality":"text","raw":""}]`, "/0/raw", "empty"},
		{`[{"type":"words","modality":"text","raw":"x"}]`, "/0/type", "unknown"},
		{`[{"type":null,"modality":"text","raw":"x"}]`, "/0/type", "string"},
		{`[{"type":"text","modality":"smell","raw":"x"}]`, "/0/modality", "unknown"},
		{`[{"type":"text","modality":"text","raw":"x","extras":null}]`, "/0/extras", "object"},
		{`[{"type":"text","modality":"text","raw":"x","extras":[]}]`, "/0/extras", "object"},
		{`[{"type":"text","modality":"text","raw":"x","a":1,"a":2}]`, "/0/a", "duplicate"},
		{`[{"type":"text","modality":"text","raw":"x"}] []`, "", "after"},
	} {
		_, err := DecodeInputContent([]byte(c.in))
		var bad *DecodeError
		if !errors.As(err, &bad) || bad.Path != c.path || !strings.Contains(bad.Problem, c.problem) {
			t.Errorf("%s: %v; want %q about %q", c.in, err, c.path, c.problem)
		}
	}
}

func TestCompactSizes(t *testing.T) {
	t.Parallel()
	st := decoded(t, readFile(t, "full.json"))
	turn, _ := json.Marshal(st.Turns[0])
	if got := st.Turns[0].CompactSize(); got != len(turn) {
		t.Errorf("turn: %d bytes, want %d", got, len(turn))
	}
	tools, _ := json.Marshal(st.Tools)
	if got := ToolsCompactSize(st.Tools); got != len(tools) {
		t.Errorf("tools: %d bytes, want %d", got, len(tools))
	}
	if got := ToolsCompactSize(nil); got != len("[]") {
		t.Errorf("no tools: %d bytes", got)
	}
	bad := &Turn{UserInput: NewTextMessage(UserInput, "", "a\xffb")}
	good := &Turn{UserInput: NewTextMessage(UserInput, "", "a\uFFFDb")}
	if bad.CompactSize() != good.CompactSize() {
		t.Error("invalid UTF-8 is not measured as its replacement")
	}
}
