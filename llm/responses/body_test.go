package responses

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"simplex/llm"
	"simplex/llm/replay"
	"simplex/state"
)

func parsed(t testing.TB, raw string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func built(t *testing.T, settings string, st *state.State) (string, error) {
	t.Helper()
	body, err := replay.New(form{}).Build(parsed(t, settings), st)
	return string(bytes.Join(body, nil)), err
}

// input gives what stands in "input":[…] when only these turns are there.
func input(t *testing.T, turns ...*state.Turn) (string, error) {
	t.Helper()
	st := state.New("s", time.Unix(0, 0))
	st.Turns = turns
	body, err := built(t, `{"model":"m"}`, st)
	_, inner, _ := strings.Cut(strings.TrimSuffix(body, "]}"), `"input":[`)
	return inner, err
}

func piece(kind state.ContentType, m state.Modality, raw, extras string) state.Content {
	c := state.Content{Type: kind, Modality: m, Raw: raw}
	if extras != "" {
		c.Extras, _ = state.ParseObject([]byte(extras))
	}
	return c
}

func TestHead(t *testing.T) {
	t.Parallel()
	st := state.New("s", time.Unix(0, 0))
	if err := st.SystemPrompt.Add(state.Section{Name: "a", Stability: state.Immutable, Text: "Be good."}); err != nil {
		t.Fatal(err)
	}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "u")})
	const end = `"instructions":"Be good.\n","input":[{"type":"message","role":"user","content":[{"text":"u","type":"input_text"}]}]}`
	for settings, want := range map[string]string{
		`{"model":"m"}`: `{"include":["reasoning.encrypted_content"],"model":"m","store":false,"stream":true,`,
		`{"model":"m","include":["x"],"input":[1],"instructions":"no","stream":false,"tools":[2]}`: `{"include":["x","reasoning.encrypted_content"],"model":"m","store":false,"stream":true,`,
		`{"model":"m","include":["reasoning.encrypted_content","x"],"store":null}`:                 `{"include":["reasoning.encrypted_content","x"],"model":"m","store":false,"stream":true,`,
		`{"model":"m","store":true,"reasoning":{"effort":"high"},"max_output_tokens":9}`:           `{"max_output_tokens":9,"model":"m","reasoning":{"effort":"high"},"store":true,"stream":true,`,
	} {
		got, err := built(t, settings, st)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want+end, got); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []string{`{"include":"x"}`, `{"include":[1]}`} {
		if _, err := New(Config{Config: llm.Config{Model: "m", Settings: parsed(t, bad)}, Dialect: OpenAI()}); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	st.Tools = []state.Tool{{Name: "f", Description: "does", ArgumentSchema: parsed(t, `{"type":"object"}`)}, {Name: "g"}}
	got, _ := built(t, `{"model":"m"}`, st)
	if !strings.HasSuffix(got, `"tools":[{"type":"function","name":"f","description":"does","parameters":{"type":"object"}},{"type":"function","name":"g","parameters":{}}],`+end) {
		t.Error(got)
	}
	if _, err := built(t, `{"model":"m"}`, state.New("s", time.Unix(0, 0))); !errors.Is(err, llm.ErrEmptyRequest) {
		t.Error(err)
	}
}

func TestUserInput(t *testing.T) {
	t.Parallel()
	image := func(raw, extras string) state.Content {
		return piece(state.TypeExternalRef, state.ModalityImage, raw, extras)
	}
	document := func(kind state.ContentType, raw, extras string) state.Content {
		return piece(kind, state.ModalityDocument, raw, extras)
	}
	for want, parts := range map[string][]state.Content{
		`{"text":"","type":"input_text"}`:                                                                 nil,
		`{"text":"a","type":"input_text"},{"text":"b","type":"input_text"}`:                               {state.TextContent("a"), state.TextContent(""), state.TextContent("b")},
		`{"text":"doc.txt","type":"input_text"}`:                                                          {piece(state.TypeExternalRef, state.ModalityText, "doc.txt", "")},
		`{"image_url":"https://x","type":"input_image"}`:                                                  {state.TextContent(""), image("https://x", "")},
		`{"detail":"low","image_url":"https://y","type":"input_image"}`:                                   {image("id", `{"image_url":{"url":"https://y","detail":"low"}}`)},
		`{"detail":"high","file_id":"file-1","type":"input_image"}`:                                       {image("", `{"file_id":"file-1","detail":"high"}`)},
		`{"file_url":"https://x/a.pdf","type":"input_file"}`:                                              {document(state.TypeExternalRef, "https://x/a.pdf", "")},
		`{"file_id":"file-1","filename":"a.pdf","type":"input_file"}`:                                     {document(state.TypeExternalRef, "x", `{"type":"input_file","file_id":"file-1","filename":"a.pdf"}`)},
		`{"file_data":"QUJD","filename":"a.pdf","type":"input_file"}`:                                     {document(state.TypeBinary, "QUJD", `{"filename":"a.pdf"}`)},
		`{"file_data":"data:application/pdf;base64,QUJE","type":"input_file"}`:                            {document(state.TypeBinary, "QUJE", `{"mime_type":"application/pdf"}`)},
		`{"text":"see","type":"input_text"},{"image_url":"data:image/png;base64,A","type":"input_image"}`: {state.TextContent("see"), image("data:image/png;base64,A", "")},
	} {
		got, err := input(t, &state.Turn{UserInput: &state.Message{Content: parts}})
		if diff := cmp.Diff(`{"type":"message","role":"user","content":[`+want+`]}`, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestUnsupportedPartsAreRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]state.Content{
		"audio":            piece(state.TypeExternalRef, state.ModalityAudio, "x", ""),
		"video":            piece(state.TypeExternalRef, state.ModalityVideo, "x", ""),
		"binary image":     piece(state.TypeBinary, state.ModalityImage, "AA", ""),
		"binary text":      piece(state.TypeBinary, state.ModalityText, "AA", ""),
		"document as text": piece(state.TypeText, state.ModalityDocument, "x", ""),
		"no URL":           piece(state.TypeExternalRef, state.ModalityImage, "", ""),
		"no document":      piece(state.TypeExternalRef, state.ModalityDocument, "", ""),
	} {
		if got, err := input(t, &state.Turn{UserInput: &state.Message{Content: []state.Content{c}}}); !errors.Is(err, llm.ErrUnsupportedPart) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	image := piece(state.TypeExternalRef, state.ModalityImage, "x", "")
	for name, m := range map[string]*state.Message{
		"answer":    {Content: []state.Content{image}},
		"reasoning": {Content: []state.Content{state.TextContent("a")}, Reasoning: &image},
	} {
		turn := &state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "u"), Steps: []*state.Step{{ModelResponse: m}}}
		if got, err := input(t, turn); !errors.Is(err, llm.ErrUnsupportedPart) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	say := func(text string) []state.Content { return []state.Content{state.TextContent(text)} }
	call := func(id, args, extras string) state.Call {
		v, _ := state.ParseValue([]byte(args))
		c := state.Call{ID: id, Name: "f", Arguments: v}
		if extras != "" {
			c.Extras = parsed(t, extras)
		}
		return c
	}
	answer := func(id, text string) *state.Message {
		return state.NewResultMessage(state.Result{Call: state.Call{ID: id, Name: "f"}, Output: state.TextContent(text)})
	}
	thought := func(raw, extras string) *state.Content {
		c := piece(state.TypeText, state.ModalityText, raw, extras)
		return &c
	}
	out := func(id, text string) string {
		return `,{"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"}`
	}
	const (
		sealed   = `{"encrypted_content":"xyz","id":"rs","summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"}`
		message  = `{"content":[{"annotations":[1],"text":"a","type":"output_text"}],"id":"msg","role":"assistant","status":"completed","type":"message"}`
		saysA    = `{"content":[{"text":"a","type":"output_text"}],"role":"assistant","type":"message"}`
		captured = `{"arguments":"{\"x\": 1}","call_id":"old","id":"fc","name":"f","status":"completed","type":"function_call"}`
	)
	image := piece(state.TypeExternalRef, state.ModalityImage, "https://x", "")
	tests := map[string]struct {
		m       state.Message
		results []*state.Message
		want    string
	}{
		"text":                   {m: state.Message{Content: say("a")}, want: saysA},
		"nothing":                {m: state.Message{Content: say("")}},
		"only reasoning":         {m: state.Message{Reasoning: thought("hm", "")}},
		"captured text":          {m: state.Message{Content: say("a"), Extras: parsed(t, `{"output_items":[`+message+`]}`)}, want: message},
		"text that was edited":   {m: state.Message{Content: say("a"), Extras: parsed(t, `{"output_items":[`+strings.Replace(message, `"text":"a"`, `"text":"b"`, 1)+`]}`)}, want: saysA},
		"refusal":                {m: state.Message{Content: []state.Content{piece(state.TypeText, state.ModalityText, "", `{"refusal":"no"}`)}}, want: `{"content":[{"refusal":"no","type":"refusal"}],"role":"assistant","type":"message"}`},
		"reasoning of another":   {m: state.Message{Content: say("a"), Reasoning: thought("hm", "")}, want: `{"summary":[{"text":"hm","type":"summary_text"}],"type":"reasoning"},` + saysA},
		"captured reasoning":     {m: state.Message{Content: say("a"), Reasoning: thought("hm", `{"items":[`+sealed+`]}`)}, want: sealed + "," + saysA},
		"sealed without summary": {m: state.Message{Content: say("a"), Reasoning: thought("", `{"items":[{"encrypted_content":"x","id":"r","summary":[],"type":"reasoning"}]}`)}, want: `{"encrypted_content":"x","id":"r","summary":[],"type":"reasoning"},` + saysA},
		"call":                   {m: state.Message{Calls: []state.Call{call("c", `{"b":1,"a":2.0}`, "")}}, results: []*state.Message{answer("c", "r")}, want: `{"arguments":"{\"a\":2.0,\"b\":1}","call_id":"c","name":"f","type":"function_call"}` + out("c", "r")},
		"captured call, own id":  {m: state.Message{Calls: []state.Call{call("new", `{"x":1}`, captured)}}, results: []*state.Message{answer("new", "r")}, want: strings.Replace(captured, "old", "new", 1) + out("new", "r")},
		"captured, not parsed":   {m: state.Message{Calls: []state.Call{call("c", `"{\"x"`, `{"arguments":"{\"x","call_id":"c","name":"f","type":"function_call"}`)}}, results: []*state.Message{answer("c", "r")}, want: `{"arguments":"{\"raw\":\"{\\\"x\"}","call_id":"c","name":"f","type":"function_call"}` + out("c", "r")},
		"from Chat Completions":  {m: state.Message{Calls: []state.Call{call("c", `{}`, `{"index":0,"type":"function"}`)}}, results: []*state.Message{answer("c", "r")}, want: `{"arguments":"{}","call_id":"c","name":"f","type":"function_call"}` + out("c", "r")},
		"ids repeat": {
			m: state.Message{Calls: []state.Call{call("c", `{}`, ""), call("c", `{}`, "")}}, results: []*state.Message{answer("c", "1"), answer("c", "2")},
			want: `{"arguments":"{}","call_id":"c","name":"f","type":"function_call"},{"arguments":"{}","call_id":"c~2","name":"f","type":"function_call"}` + out("c", "1") + out("c~2", "2"),
		},
		"as the model ordered": {
			m: state.Message{
				Content: say("a"), Reasoning: thought("hm", `{"items":[`+sealed+`]}`), Calls: []state.Call{call("c", `{}`, "")},
				Extras: parsed(t, `{"output_order":["message","reasoning","function_call"]}`),
			},
			results: []*state.Message{answer("c", "r")},
			want:    saysA + "," + sealed + `,{"arguments":"{}","call_id":"c","name":"f","type":"function_call"}` + out("c", "r"),
		},
		"an image comes out": {
			m: state.Message{Calls: []state.Call{call("c", `{}`, "")}}, results: []*state.Message{state.NewResultMessage(state.Result{Call: state.Call{ID: "c"}, Output: image})},
			want: `{"arguments":"{}","call_id":"c","name":"f","type":"function_call"},{"type":"function_call_output","call_id":"c","output":[{"image_url":"https://x","type":"input_image"}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := input(t, &state.Turn{
				UserInput: state.NewTextMessage(state.UserInput, "", "u"),
				Steps:     []*state.Step{{ModelResponse: &test.m, Returns: test.results}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got = strings.TrimPrefix(strings.TrimPrefix(got, `{"type":"message","role":"user","content":[{"text":"u","type":"input_text"}]}`), ",")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestItemsAreSentOnce: a history that holds a step twice is still one that a server
// takes.
func TestItemsAreSentOnce(t *testing.T) {
	t.Parallel()
	m := state.NewTextMessage(state.ModelResponse, "", "a")
	c := state.TextContent("")
	c.Extras = parsed(t, `{"items":[{"id":"rs","type":"reasoning"}]}`)
	m.Reasoning = &c
	m.Extras = parsed(t, `{"output_items":[{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":"a"}]}]}`)
	step := &state.Step{ModelResponse: m}
	got, err := input(t, &state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "u"), Steps: []*state.Step{step, step}})
	if err != nil || strings.Count(got, `"id":"rs"`) != 1 || strings.Count(got, `"id":"msg"`) != 1 || strings.Count(got, `"text":"a"`) != 2 {
		t.Error(got, err)
	}
}
