package chat

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"simplex/llm"
	"simplex/llm/llmtest"
	"simplex/llm/replay"
	"simplex/llm/strict"
	"simplex/state"
)

func object(t testing.TB, raw string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func fresh() *state.State { return state.New("s", time.Unix(0, 0)) }

// newEncoder has seen nothing.
func newEncoder(d Dialect) *replay.Builder { return replay.New(&form{dialect: d}) }

// bodyOf is the whole body as the builder would send it.
func bodyOf(e *replay.Builder, settings state.Object, st *state.State) ([]byte, error) {
	b, err := e.Build(settings, st)
	return bytes.Join(b, nil), err
}

// messages gives what stands in "messages":[…] when only these turns are there.
func messages(t *testing.T, d Dialect, turns ...*state.Turn) (string, error) {
	t.Helper()
	st := fresh()
	st.Turns = turns
	body, err := bodyOf(newEncoder(d), object(t, `{"model":"m"}`), st)
	_, inner, _ := strings.Cut(strings.TrimSuffix(string(body), "]}"), `"messages":[`)
	return inner, err
}

func piece(kind state.ContentType, m state.Modality, raw, extras string) state.Content {
	c := state.Content{Type: kind, Modality: m, Raw: raw}
	if extras != "" {
		c.Extras, _ = state.ParseObject([]byte(extras))
	}
	return c
}

func TestUserInput(t *testing.T) {
	t.Parallel()
	text := func(s string) state.Content { return state.TextContent(s) }
	image := func(raw, extras string) state.Content {
		return piece(state.TypeExternalRef, state.ModalityImage, raw, extras)
	}
	tests := map[string]struct {
		parts []state.Content
		want  string // of content
	}{
		"one text":        {[]state.Content{text("a \"b\" é \x00")}, `"a \"b\" é \u0000"`},
		"none":            {nil, `""`},
		"two texts":       {[]state.Content{text("a"), text("b")}, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		"referenced text": {[]state.Content{piece(state.TypeExternalRef, state.ModalityText, "doc.txt", "")}, `"doc.txt"`},
		"image":           {[]state.Content{text("see"), image("https://x/i.png", "")}, `[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://x/i.png"}}]`},
		"only an image":   {[]state.Content{image("https://x/i.png", `{"detail":"low"}`)}, `[{"type":"image_url","image_url":{"url":"https://x/i.png","detail":"low"}}]`},
		"image by string": {[]state.Content{image("id", `{"image_url":"https://y"}`)}, `[{"type":"image_url","image_url":{"url":"https://y"}}]`},
		"image by object": {[]state.Content{image("id", `{"image_url":{"url":"https://y","detail":"high"}}`)}, `[{"type":"image_url","image_url":{"url":"https://y","detail":"high"}}]`},
		"bad UTF-8":       {[]state.Content{text("a\xff"), text("b")}, `[{"type":"text","text":"a` + "\uFFFD" + `"},{"type":"text","text":"b"}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &state.Message{Type: state.UserInput, Content: test.parts}
			got, err := messages(t, Generic(), &state.Turn{UserInput: m})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"role":"user","content":`+test.want+`}`, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnsupportedPartsAreRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	binary := piece(state.TypeBinary, state.ModalityImage, "AAAA", "")
	audio := piece(state.TypeExternalRef, state.ModalityAudio, "x", "")
	image := piece(state.TypeExternalRef, state.ModalityImage, "x", "")
	user := state.NewTextMessage(state.UserInput, "", "go")
	step := func(m state.Message, results ...*state.Message) *state.Turn {
		return &state.Turn{UserInput: user, Steps: []*state.Step{{ModelResponse: &m, Returns: results}}}
	}
	calls := []state.Call{{ID: "c", Name: "f"}}
	result := state.NewResultMessage(state.Result{Call: calls[0], Output: image})
	for name, turn := range map[string]*state.Turn{
		"binary image":       {UserInput: &state.Message{Content: []state.Content{binary}}},
		"audio":              {UserInput: &state.Message{Content: []state.Content{audio}}},
		"binary text":        {UserInput: &state.Message{Content: []state.Content{piece(state.TypeBinary, state.ModalityText, "AA", "")}}},
		"image without URL":  {UserInput: &state.Message{Content: []state.Content{piece(state.TypeExternalRef, state.ModalityImage, "", "")}}},
		"assistant image":    step(state.Message{Content: []state.Content{image}}),
		"reasoning is audio": step(state.Message{Content: []state.Content{state.TextContent("a")}, Reasoning: &audio}),
		"result is an image": step(state.Message{Calls: calls}, result),
	} {
		if got, err := messages(t, Generic(), turn); !errors.Is(err, llm.ErrUnsupportedPart) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	say := func(text string) []state.Content { return []state.Content{state.TextContent(text)} }
	call := func(id, args string) state.Call {
		v, _ := state.ParseValue([]byte(args))
		return state.Call{ID: id, Name: "f", Arguments: v}
	}
	answer := func(id, text string) *state.Message {
		return state.NewResultMessage(state.Result{Call: state.Call{ID: id, Name: "f"}, Output: state.TextContent(text)})
	}
	reasoning := state.TextContent("hm")
	tool := func(id, text string) string {
		return `,{"role":"tool","content":"` + text + `","tool_call_id":"` + id + `"}`
	}
	asks := func(calls ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	fn := func(id, args string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"` + args + `"}}`
	}
	tests := map[string]struct {
		m       state.Message
		results []*state.Message
		replay  bool
		want    string
	}{
		"text":                 {m: state.Message{Content: append(say("a"), say("b")...)}, want: `{"role":"assistant","content":"ab"}`},
		"said nothing":         {m: state.Message{}, want: ""},
		"said an empty text":   {m: state.Message{Content: say("")}, want: ""},
		"only thought":         {m: state.Message{Reasoning: &reasoning}, replay: true, want: ""},
		"refusal":              {m: state.Message{Content: []state.Content{piece(state.TypeText, state.ModalityText, "", `{"refusal":"no"}`)}}, want: `{"role":"assistant","content":null,"refusal":"no"}`},
		"reasoning stays here": {m: state.Message{Content: say("a"), Reasoning: &reasoning}, want: `{"role":"assistant","content":"a"}`},
		"reasoning goes back":  {m: state.Message{Content: say("a"), Reasoning: &reasoning}, replay: true, want: `{"role":"assistant","content":"a","reasoning_content":"hm"}`},
		"call":                 {m: state.Message{Calls: []state.Call{call("c", `{"b":1, "a":2.0}`)}}, results: []*state.Message{answer("c", "r")}, want: asks(fn("c", `{\"a\":2.0,\"b\":1}`)) + tool("c", "r")},
		"arguments as text":    {m: state.Message{Calls: []state.Call{call("c", `"{\"x"`)}}, results: []*state.Message{answer("c", "r")}, want: asks(fn("c", `{\"raw\":\"{\\\"x\"}`)) + tool("c", "r")},
		"arguments as a list":  {m: state.Message{Calls: []state.Call{call("c", `[1]`)}}, results: []*state.Message{answer("c", "r")}, want: asks(fn("c", `{\"raw\":[1]}`)) + tool("c", "r")},
		"no arguments":         {m: state.Message{Calls: []state.Call{{ID: "c", Name: "f"}}}, results: []*state.Message{answer("c", "r")}, want: asks(fn("c", `{}`)) + tool("c", "r")},
		"ids repeat":           {m: state.Message{Calls: []state.Call{call("c", `{}`), call("c", `{}`), call("", `{}`)}}, results: []*state.Message{answer("c", "1"), answer("c", "2"), answer("", "3")}, want: asks(fn("c", "{}"), fn("c~2", "{}"), fn("call", "{}")) + tool("c", "1") + tool("c~2", "2") + tool("call", "3")},
		"results out of order": {m: state.Message{Calls: []state.Call{call("a", `{}`), call("b", `{}`)}}, results: []*state.Message{answer("b", "2"), answer("a", "1")}, want: asks(fn("a", "{}"), fn("b", "{}")) + tool("a", "1") + tool("b", "2")},
		"result by position":   {m: state.Message{Calls: []state.Call{call("a", `{}`)}}, results: []*state.Message{{Content: say("r")}}, want: asks(fn("a", "{}")) + tool("a", "r")},
		"output of the record": {m: state.Message{Calls: []state.Call{call("a", `{}`)}}, results: []*state.Message{{Result: &state.Result{Call: state.Call{ID: "a"}, Output: state.TextContent("r")}}}, want: asks(fn("a", "{}")) + tool("a", "r")},
		"own roles":            {m: state.Message{Role: "assistant", Content: say("a")}, want: `{"role":"assistant","content":"a"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Generic()
			d.ReplaysReasoning = func(state.Object) bool { return test.replay }
			got, err := messages(t, d, &state.Turn{
				UserInput: state.NewTextMessage(state.UserInput, "", "u"),
				Steps:     []*state.Step{{ModelResponse: &test.m, Returns: test.results}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got = strings.TrimPrefix(strings.TrimPrefix(got, `{"role":"user","content":"u"}`), ",")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnpairedCallsAreRefused(t *testing.T) {
	t.Parallel()
	user := state.NewTextMessage(state.UserInput, "", "u")
	calls := &state.Message{Calls: []state.Call{{ID: "a", Name: "f"}}}
	other := state.NewResultMessage(state.Result{Call: state.Call{ID: "b"}, Output: state.TextContent("r")})
	for name, returns := range map[string][]*state.Message{"none": nil, "two": {other, other}, "another's": {other}, "nil": {nil}} {
		_, err := messages(t, Generic(), &state.Turn{UserInput: user, Steps: []*state.Step{{ModelResponse: calls, Returns: returns}}})
		if !errors.Is(err, llm.ErrUnpairedCall) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := messages(t, Generic()); !errors.Is(err, llm.ErrEmptyRequest) {
		t.Errorf("an empty conversation: %v", err)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	st := fresh()
	if err := st.SystemPrompt.Add(state.Section{Name: "a", Stability: state.Immutable, Text: "Be good."}); err != nil {
		t.Fatal(err)
	}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "u")})
	const end = `"messages":[{"role":"system","content":"Be good.\n"},{"role":"user","content":"u"}]}`
	for settings, want := range map[string]string{
		`{"model":"m"}`: `{"model":"m","n":1,"stream":true,"stream_options":{"include_usage":true},`,
		`{"model":"m","temperature":0.70,"n":4,"stream":false,"messages":[1],"tools":[2],"x":{"b":1,"a":[]}}`: `{"model":"m","n":1,"stream":true,"stream_options":{"include_usage":true},"temperature":0.70,"x":{"a":[],"b":1},`,
		`{"model":"m","stream_options":{"include_usage":false,"more":1}}`:                                     `{"model":"m","n":1,"stream":true,"stream_options":{"include_usage":true,"more":1},`,
		`{"model":"m","reasoning":{"effort":"high","summary":"auto"}}`:                                        `{"model":"m","n":1,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true},`,
		`{"model":"m","reasoning":{"effort":"high"},"reasoning_effort":"low"}`:                                `{"model":"m","n":1,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true},`,
	} {
		got, err := bodyOf(newEncoder(Generic()), object(t, settings), st)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want+end, string(got)); diff != "" {
			t.Error(diff)
		}
	}
	st.Tools = []state.Tool{{Name: "f", Description: "does", ArgumentSchema: object(t, `{"type":"object"}`)}, {Name: "g", ArgumentSchema: state.EmptyObject()}}
	got, _ := bodyOf(newEncoder(Generic()), object(t, `{"model":"m"}`), st)
	want := `"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","parameters":{}}}],` + end
	if !strings.HasSuffix(string(got), want) {
		t.Error(string(got))
	}
}

// TestRandomHistories with and without reasoning.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for _, reasoning := range []bool{false, true} {
		t.Run(fmt.Sprint("reasoning ", reasoning), func(t *testing.T) {
			t.Parallel()
			d := Generic()
			d.ReplaysReasoning = func(state.Object) bool { return reasoning }
			llmtest.CheckReplay(t, func() replay.Form { return &form{dialect: d} }, strict.Chat)
		})
	}
}

func TestPrefixStaysOverFiftyTurns(t *testing.T) { // not parallel: it counts allocations
	llmtest.CheckPrefix(t, &form{dialect: Generic()})
}

func BenchmarkBuildRequest(b *testing.B) {
	llmtest.BenchBuild(b, func() replay.Form { return &form{dialect: Generic()} })
}
