package chat

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"simplex/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// received is an event as the adapter hands it on.
func received(t *testing.T, name, data string) *wire.Received {
	t.Helper()
	raw := fmt.Sprintf(`{"type":"event","event":%q,"session_id":"s","worker_id":"w","request_id":"q","run_id":"r","sequence":3,"data":%s}`, name, data)
	e, err := wire.DecodeEvent([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

func TestAnswersGoToOneStreamAllElseToTheOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, data, out, err string }{
		"answer": {
			"model_response", `{"content":[{"type":"text","raw":"one\ntwo","modality":"text"}]}`,
			"one\ntwo\n", "",
		},
		"parts are joined, references are not shown": {
			"model_response", `{"content":[{"type":"text","raw":"a"},{"type":"external_ref","raw":"http://x"},{"type":"text","raw":"b"}]}`,
			"ab\n", "",
		},
		"shortened answer": {
			"model_response", `{"content":[{"type":"text","raw":"begin","truncated":true,"bytes":999}]}`,
			"", "", // the conversation fetches the whole
		},
		"shortened output": {
			"tool_results", `[{"output":{"type":"text","raw":"x","truncated":true,"bytes":999}},{"display_omitted":true,"omitted_items":3}]`,
			"", "   x\n   [1 of 999 bytes shown]\n   [3 more results are not shown]\n",
		},
		"more calls": {"tool_calls", `[{"name":"t","arguments":{}},{"display_omitted":true,"omitted_items":2}]`, "", "=> t {}\n=> [2 more calls are not shown]\n"},
		"words before a call": {
			"model_response", `{"content":[{"type":"text","raw":"let me see"}],"invokes":[{"name":"t"}]}`,
			"", "let me see\n",
		},
		"no words":    {"model_response", `{"content":[]}`, "", ""},
		"calls":       {"tool_calls", `[{"name":"t","arguments":{"a":1}},{"name":"u","arguments":{}}]`, "", "=> t {\"a\":1}\n=> u {}\n"},
		"results":     {"tool_results", `[{"output":{"type":"text","raw":"x\r\ny"}}]`, "", "   x\n   y\n"},
		"rejected":    {"input_rejected", `{"request_id":"q","message":"no\u001b[2J"}`, "", "!! no\uFFFD[2J\n"},
		"error":       {"error", `{"message":"disk"}`, "", "!! disk\n"},
		"failed":      {"run_finished", `{"status":"failed","error":"boom"}`, "", "!! run failed: boom\n"},
		"cancelled":   {"run_finished", `{"status":"cancelled","error":""}`, "", "!! run cancelled\n"},
		"completed":   {"run_finished", `{"status":"completed","error":""}`, "", ""},
		"others":      {"persisted", `{"boundary":"before_tools","format":"json"}`, "", ""},
		"unknown":     {"brand_new", `{"x":1}`, "", ""},
		"other shape": {"model_response", `[1]`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			newRenderer(Config{Stdout: &out, Stderr: &err}).event(received(t, c.event, c.data))
			if out.String() != c.out || err.String() != c.err {
				t.Errorf("stdout %q, want %q\nstderr %q, want %q", out.String(), c.out, err.String(), c.err)
			}
		})
	}
}

func TestJSONShowsEveryEventAsItCame(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	show := newRenderer(Config{Stdout: &out, Stderr: &err, JSON: true})
	show.event(received(t, "model_response", `{"content":[{"type":"text","raw":"é\u2028"}]}`))
	show.event(received(t, "brand_new", `{}`))
	want := `{"type":"event","event":"model_response","session_id":"s","worker_id":"w","request_id":"q","run_id":"r","sequence":3,"data":{"content":[{"type":"text","raw":"é\u2028"}]}}` + "\n" +
		`{"type":"event","event":"brand_new","session_id":"s","worker_id":"w","request_id":"q","run_id":"r","sequence":3,"data":{}}` + "\n"
	if out.String() != want || err.Len() > 0 {
		t.Errorf("stdout\n%swant\n%sstderr %q", out.String(), want, err.String())
	}
}

func TestCleanText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":             {"a\tb\nc é 日本 🙂", "a\tb\nc é 日本 🙂"},
		"escape":            {"\x1b[31m", "\uFFFD[31m"},
		"C1":                {"\u009b31m", "\uFFFD31m"},
		"carriage return":   {"real\rfake", "real\uFFFDfake"},
		"backspace":         {"a\bb", "a\uFFFDb"},
		"delete":            {"\x7f", "\uFFFD"},
		"invalid":           {"a\xffb", "a\uFFFDb"},
		"direction changes": {"rm \u202e\u2066x", "rm \uFFFD\uFFFDx"}, // text that shows in another order than it runs
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCleanTextNeverSteersATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		out := clean(in)
		if !utf8.ValidString(out) || clean(out) != out {
			t.Fatalf("%q", out)
		}
		if strings.ContainsFunc(out, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
		}) {
			t.Fatalf("control character in %q", out)
		}
	})
}
