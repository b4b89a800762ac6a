package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/state"
	"simplex/wire"
)

func object(t *testing.T, text string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDecodeInput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		data string
		want wire.Input
	}{
		{
			`{"operation":"message","request_id":"r","content":[{"type":"text","modality":"text","raw":" hi "}]}`,
			wire.Input{
				Operation: wire.OpMessage, RequestID: "r",
				Content: []state.Content{{Type: "text", Modality: "text", Raw: " hi "}},
			},
		},
		{ // an attachment alone; unknown members ignored, extras kept
			`{"operation":"message","request_id":"ü","x":1,"content":[{"type":"external_ref","modality":"audio",
			  "raw":"https://x/","y":null,"extras":{"b":[1.50],"a":{}}}],"options":{}}`,
			wire.Input{
				Operation: wire.OpMessage, RequestID: "ü",
				Content: []state.Content{{
					Type: "external_ref", Modality: "audio", Raw: "https://x/",
					Extras: object(t, `{"a":{},"b":[1.50]}`),
				}},
			},
		},
		{
			`{"operation":"continue","request_id":"` + strings.Repeat("r", 128) + `",
			  "options":{"model":{"effort":"low"},"tools":{},"confirmation":{"mode":"deny"}}}`,
			wire.Input{
				Operation: wire.OpContinue, RequestID: strings.Repeat("r", 128),
				Options: wire.Options{Model: object(t, `{"effort":"low"}`), Mode: wire.ModeDeny},
			},
		},
		{
			`{"operation":"compact","request_id":"\u0000","options":{"confirmation":{}}}`,
			wire.Input{Operation: wire.OpCompact, RequestID: "\x00"},
		},
	}
	for _, tt := range tests {
		got, rejected := wire.DecodeInput([]byte(tt.data))
		if rejected != nil {
			t.Errorf("%s: %v", tt.data, rejected.Message)
			continue
		}
		if diff := cmp.Diff(&tt.want, got, cmp.Comparer(func(a, b state.Object) bool { return a == b })); diff != "" {
			t.Errorf("%s:\n%s", tt.data, diff)
		}
	}
}

// badInputs have the message's beginning, which names the member at fault.
var badInputs = []struct{ data, message string }{
	{`{}`, "operation: missing"},
	{`{"operation":null}`, "operation: must"},
	{`{"operation":1,"request_id":"r"}`, "operation: must"},
	{`{"operation":"","request_id":"r"}`, "operation: \"\" is not"},
	{`{"operation":"Message","request_id":"r"}`, "operation: \"Message\""},
	{`{"operation":"history","request_id":"r"}`, "operation: \"history\""},
	{`{"operation":"delete","request_id":"r"}`, "operation: \"delete\""},
	{`{"operation":"continue"}`, "request_id: missing"},
	{`{"operation":"continue","request_id":null}`, "request_id: must"},
	{`{"operation":"continue","request_id":7}`, "request_id: must"},
	{`{"operation":"continue","request_id":["r"]}`, "request_id: must"},
	{`{"operation":"continue","request_id":""}`, "request_id: must have"},
	{`{"operation":"continue","request_id":"` + strings.Repeat("r", 129) + `"}`, "request_id: must have"},
	{`{"operation":"continue","request_id":"` + strings.Repeat("ü", 65) + `"}`, "request_id: must have"},
	{`{"operation":"continue","request_id":"r","content":[]}`, "content: not"},
	{`{"operation":"continue","request_id":"r","content":null}`, "content: not"},
	{`{"operation":"continue","request_id":"r","text":"x"}`, "text: not"},
	{`{"operation":"compact","request_id":"r","content":[{}]}`, "content: not"},
	{`{"operation":"compact","request_id":"r","text":null}`, "text: not"},
	{`{"operation":"compact","request_id":"r","role":"user"}`, "role: not"},
	{`{"operation":"compact","request_id":"r","invokes":null}`, "invokes: not"},
	{`{"operation":"message","request_id":"r"}`, "content: missing"},
	{`{"operation":"message","request_id":"r","text":"hello"}`, "text: not"},
	{`{"operation":"message","request_id":"r","content":null}`, "content: must be an array"},
	{`{"operation":"message","request_id":"r","content":{}}`, "content: must be an array"},
	{`{"operation":"message","request_id":"r","content":"hi"}`, "content: must be an array"},
	{`{"operation":"message","request_id":"r","content":[]}`, "content: must not be empty"},
	{`{"operation":"message","request_id":"r","role":null}`, "role: not"},
	{`{"operation":"message","request_id":"r","invokes":[]}`, "invokes: not"},
	{`{"operation":"message","request_id":"r","invoke_return":null}`, "invoke_return: not"},
	{`{"operation":"message","request_id":"r","type":"user_input"}`, "type: not"},
	{message(`null`), "content[0]: not a JSON object"},
	{message(`"hi"`), "content[0]: not a JSON object"},
	{message(`[]`), "content[0]: not a JSON object"},
	{message(`{}`), "content[0]: type"},
	{message(`{"type":"text"}`), "content[0]: modality"},
	{message(`{"modality":"text","raw":"x"}`), "content[0]: type"},
	{message(`{"type":"text","raw":"x"}`), "content[0]: modality"},
	{message(`{"type":"text","modality":"text"}`), "content[0]: raw"},
	{message(`{"type":"text","modality":"text","raw":""}`), "content[0]: raw"},
	{message(`{"type":"text","modality":"text","raw":null}`), "content[0]: raw"},
	{message(`{"type":"text","modality":"text","raw":5}`), "content[0]: raw"},
	{message(`{"type":"Text","modality":"text","raw":"x"}`), "content[0]: type"},
	{message(`{"type":"image","modality":"image","raw":"x"}`), "content[0]: type"},
	{message(`{"type":null,"modality":"text","raw":"x"}`), "content[0]: type"},
	{message(`{"type":"text","modality":"binary","raw":"x"}`), "content[0]: modality"},
	{message(`{"type":"text","modality":null,"raw":"x"}`), "content[0]: modality"},
	{message(`{"type":"text","modality":"text","raw":"x","extras":null}`), "content[0]: extras"},
	{message(`{"type":"text","modality":"text","raw":"x","extras":[]}`), "content[0]: extras"},
	{message(`{"type":"text","modality":"text","raw":"x","extras":"{}"}`), "content[0]: extras"},
	{message(`{"type":"text","modality":"text","raw":"x"},{"type":"text"}`), "content[1]: modality"},
}

// badOptions are refused with code invalid_options (worker-data.md §9, 14).
var badOptions = []string{
	`null`, `[]`, `"ask"`, `true`, `0`,
	`{"model":null}`, `{"model":[]}`, `{"model":"gpt"}`,
	`{"tools":null}`, `{"tools":[]}`, `{"tools":{"a":1}}`, `{"tools":true}`,
	`{"confirmation":null}`, `{"confirmation":"deny"}`, `{"confirmation":[]}`,
	`{"confirmation":{"mode":null}}`, `{"confirmation":{"mode":""}}`, `{"confirmation":{"mode":"Deny"}}`,
	`{"confirmation":{"mode":1}}`, `{"confirmation":{"mode":"deny","x":1}}`, `{"confirmation":{"Mode":"deny"}}`,
	`{"confirmations":{"mode":"deny"}}`, `{"":{}}`, `{"model":{},"x":{}}`, `{"Model":{}}`,
}

func message(parts string) string {
	return `{"operation":"message","request_id":"r","content":[` + parts + `]}`
}

func TestDecodeInputRefuses(t *testing.T) {
	t.Parallel()
	if n := len(badInputs) + len(badOptions); n < 60 {
		t.Errorf("only %d bad payloads", n)
	}
	for _, tt := range badInputs {
		in, rejected := wire.DecodeInput([]byte(tt.data))
		if in != nil || rejected == nil {
			t.Errorf("%s: accepted", tt.data)
			continue
		}
		if !strings.HasPrefix(string(rejected.Message), tt.message) || rejected.Code != "" {
			t.Errorf("%s: %q, code %q; want %q", tt.data, rejected.Message, rejected.Code, tt.message)
		}
	}
	for _, options := range badOptions {
		for _, op := range []string{"continue", "compact"} {
			data := fmt.Sprintf(`{"operation":%q,"request_id":"r","options":%s}`, op, options)
			in, rejected := wire.DecodeInput([]byte(data))
			if in != nil || rejected == nil || rejected.Code != wire.CodeInvalidOptions || rejected.EnvelopeID() != "r" {
				t.Errorf("%s: %+v", data, rejected)
			}
		}
	}
}

// input_rejected names the id as it was received, the envelope only a usable string.
func TestInputRejectedEchoes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("r", 600)
	tests := []struct{ data, want, envelope string }{
		{`{"operation":"x","request_id":"r"}`, `{"request_id":"r","message":"…","operation":"x"}`, "r"},
		{`{"operation":"x"}`, `{"request_id":null,"message":"…","operation":"x"}`, ""},
		{`{"operation":"x","request_id":null}`, `{"request_id":null,"message":"…","operation":"x"}`, ""},
		{`{"operation":"x","request_id":17}`, `{"request_id":17,"message":"…","operation":"x"}`, ""},
		{`{"request_id":{"b":1, "a":[]}}`, `{"request_id":{"a":[],"b":1},"message":"…"}`, ""},
		{`{"operation":["y"],"request_id":"r"}`, `{"request_id":"r","message":"…","operation":["y"]}`, "r"},
		{`{"operation":"x","request_id":"` + long + `"}`, `{"request_id":null,"message":"…","operation":"x"}`, ""},
		{`{"operation":"` + long + `","request_id":"r"}`, `{"request_id":"r","message":"…","operation":null}`, "r"},
		{`{"operation":"compact","request_id":"r","options":1}`, `{"request_id":"r","message":"…","operation":"compact","code":"invalid_options"}`, "r"},
		{`{"operation":"compact","request_id":"` + long[:200] + `"}`, `{"request_id":"` + long[:200] + `","message":"…","operation":"compact"}`, ""},
	}
	for _, tt := range tests {
		_, rejected := wire.DecodeInput([]byte(tt.data))
		if rejected == nil {
			t.Errorf("%s: accepted", tt.data)
			continue
		}
		rejected.Message = "…"
		got, err := wire.EncodeData(rejected)
		if err != nil || string(got) != tt.want || rejected.EnvelopeID() != tt.envelope {
			t.Errorf("%s:\n got %s %q %v\nwant %s %q", tt.data, got, rejected.EnvelopeID(), err, tt.want, tt.envelope)
		}
	}
}
