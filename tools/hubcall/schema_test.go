package hubcall_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/hubcall"
)

// TestDeclarationsUpToDate holds what is built in against the YAML it stands for.
func TestDeclarationsUpToDate(t *testing.T) {
	want, err := tools.Bundle(os.DirFS("schema"), decodeYAML)
	must(t, err)
	if *update {
		must(t, os.WriteFile("schema/bundle.json", want, 0o644))
	}
	got, err := os.ReadFile("schema/bundle.json")
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("schema/bundle.json is not what schema/*.yaml says: run go generate")
	}
}

func someIDs() hubcall.IDs { return hubcall.IDs{WorkerID: "w", SessionID: "s", RunID: "r"} }

func TestSet(t *testing.T) {
	t.Parallel()
	cfg := hubcall.Config{Endpoint: "ws://127.0.0.1:1/", IDs: someIDs}
	builtin, err := hubcall.New(cfg)
	must(t, err)
	cfg.SchemaDir, cfg.DecodeYAML = "schema", decodeYAML
	directory, err := hubcall.New(cfg)
	must(t, err)
	names := []string{"plan", "subagent_fork", "subagent_send", "subagent_receive"}
	for place, set := range map[string]*hubcall.Set{"built in": builtin, "directory": directory} {
		var got []string
		for i, tool := range set.Tools() {
			d := tool.Declaration()
			got = append(got, d.Name)
			if d.Offer() != builtin.Tools()[i].Declaration().Offer() {
				t.Errorf("%s: %s differs", place, d.Name)
			}
			if v, _ := d.Schema.Get("additionalProperties"); v != state.BoolValue(false) {
				t.Errorf("%s is open", d.Name)
			}
			if !strings.Contains(set.Skill().Text, "`"+d.Name+"`") {
				t.Errorf("the skill does not name %s", d.Name)
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: tools %q", place, got)
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(set))
		g := r.Groups()
		if len(g) != 2 || g[0].Name != "plan" || g[1].Name != "subagents" || len(g[0].Missing)+len(g[1].Missing) != 0 {
			t.Errorf("%s: groups %+v", place, g)
		}
		must(t, r.Shutdown(t.Context()))
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]hubcall.Config{
		"no endpoint":      {IDs: someIDs},
		"http":             {Endpoint: "http://h/", IDs: someIDs},
		"no ids":           {Endpoint: "ws://h/"},
		"negative timeout": {Endpoint: "ws://h/", IDs: someIDs, Timeout: -1},
		"too short":        {Endpoint: "ws://h/", IDs: someIDs, Timeout: time.Microsecond},
		"too long":         {Endpoint: "ws://h/", IDs: someIDs, Timeout: 2147483648 * time.Millisecond},
	} {
		if _, err := hubcall.New(cfg); err == nil {
			t.Errorf("%s: built", name)
		}
	}
	for _, timeout := range []time.Duration{0, time.Millisecond, 2147483647 * time.Millisecond} {
		_, err := hubcall.New(hubcall.Config{Endpoint: "wss://h/x?token=y", IDs: someIDs, Timeout: timeout})
		must(t, err)
	}
}

// source is a good answer source.
const source = `{"commit_sequence":"7","fingerprint":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","step":0,"turn":2,"worker_id":"child"}`

// TestArguments goes over every clause of the declarations, with one call on each side
// of the line: the settled arguments, or what the refusal says.
func TestArguments(t *testing.T) {
	t.Parallel()
	b := benchOf(t, nil, hubcall.Config{Endpoint: "ws://127.0.0.1:1/"})
	long := strings.Repeat("x", 65536)
	id129 := strings.Repeat("i", 129)
	const text = `{"type":"text","modality":"text","raw":"hi"}`
	// room is what 64 KiB of arguments leave for the text of one part.
	room := 65536 - len(`{"content":[{"modality":"text","raw":"","type":"text"}],"operation":"message","subagent_id":"a"}`)
	send := func(content string) string {
		return `{"subagent_id":"a","operation":"message","content":[` + content + `]}`
	}
	for _, c := range []struct{ tool, args, want string }{
		{"plan", `{"operation":"read"}`, ""},
		{"plan", `{"operation":"read","markdown":null}`, ""},
		{"plan", `{}`, `argument "operation" is required`},
		{"plan", `{"operation":"append"}`, `argument "operation" must be one of ["read" "replace"]`},
		{"plan", `{"operation":"read","markdown":""}`, `argument "markdown" is only for operation "replace"`},
		{"plan", `{"operation":"replace"}`, `argument "markdown" is required`},
		{"plan", `{"operation":"replace","markdown":" "}`, ""},
		{"plan", `{"operation":"replace","markdown":"` + long + `"}`, ""},
		{"plan", `{"operation":"replace","markdown":"` + long + `x"}`, `has 65537 bytes, more than 65536`},
		{"plan", `{"operation":"read","revision":1}`, `unknown argument "revision"; the valid ones are: markdown, operation`},

		{"subagent_fork", `{}`, ""},
		{"subagent_fork", `{"name":"x"}`, `unknown argument "name"; this tool takes no arguments`},

		{"subagent_send", send(text), ""},
		{"subagent_send", `{"operation":"stop"}`, `argument "subagent_id" is required`},
		{"subagent_send", `{"subagent_id":"a b","operation":"stop"}`, `argument "subagent_id" must be 1 to 128 letters`},
		{"subagent_send", `{"subagent_id":"` + id129[1:] + `","operation":"stop"}`, ""},
		{"subagent_send", `{"subagent_id":"` + id129 + `","operation":"stop"}`, `must be 1 to 128 letters`},
		{"subagent_send", `{"subagent_id":"a"}`, `argument "operation" is required`},
		{"subagent_send", `{"subagent_id":"a","operation":"kill"}`, `argument "operation" must be one of`},
		{"subagent_send", `{"subagent_id":"a","operation":"message"}`, `argument "content" is required for operation "message"`},
		{"subagent_send", `{"subagent_id":"a","operation":"message","content":"hi"}`, `argument "content" must be a list of objects`},
		{"subagent_send", `{"subagent_id":"a","operation":"message","content":[]}`, `argument "content" must have at least one element`},
		{"subagent_send", send(`"hi"`), `argument "content" element 0 must be an object`},
		{"subagent_send", send(text + `,{"type":"text","modality":"text","raw":""}`), `argument "content" element 1 must have a raw, a nonempty string`},
		{"subagent_send", send(`{"type":"text","modality":"text"}`), `must have a raw`},
		{"subagent_send", send(`{"type":"html","modality":"text","raw":"x"}`), `must have a type, one of ["text" "binary" "external_ref"]`},
		{"subagent_send", send(`{"type":"external_ref","modality":"smell","raw":"x"}`), `must have a modality`},
		{"subagent_send", send(`{"type":"external_ref","modality":"image","raw":"x","extras":{"a":1}}`), ""},
		{"subagent_send", send(`{"type":"text","modality":"text","raw":"x","extras":1}`), `extras that are no object`},
		{"subagent_send", send(`{"type":"text","modality":"text","raw":"x","name":"y"}`), `element 0 has an unknown member "name"`},
		{"subagent_send", `{"subagent_id":"a","operation":"continue","content":[` + text + `]}`, `argument "content" is only for operation "message"`},
		{"subagent_send", `{"subagent_id":"a","operation":"continue"}`, ""},
		{"subagent_send", `{"subagent_id":"a","operation":"compact","options":{"model":{"temperature":1},"tools":{}}}`, ""},
		{"subagent_send", `{"subagent_id":"a","operation":"compact","options":{"confirmation":{}}}`, `argument "options" has an unknown member "confirmation"`},
		{"subagent_send", `{"subagent_id":"a","operation":"compact","options":[]}`, `argument "options" must be an object`},
		{"subagent_send", `{"subagent_id":"a","operation":"compact","options":{"model":1}}`, `must have an object as model`},
		{"subagent_send", `{"subagent_id":"a","operation":"compact","options":{"tools":{"x":1}}}`, `must have {} as tools`},
		{"subagent_send", `{"subagent_id":"a","operation":"stop","options":{}}`, `argument "options" is not for operation "stop"`},
		{"subagent_send", `{"subagent_id":"a","operation":"stop","options":null}`, ""},
		{"subagent_send", send(strings.Replace(text, "hi", long[:room], 1)), ""},
		{"subagent_send", send(strings.Replace(text, "hi", long[:room+1], 1)), `the arguments have 65537 bytes of JSON, more than 65536`},

		{"subagent_receive", `{}`, ""},
		{"subagent_receive", `{"subagent_id":"a"}`, ""},
		{"subagent_receive", `{"subagent_id":"a/b"}`, `must be 1 to 128 letters`},
		{"subagent_receive", `{"cursor":0}`, `argument "cursor" needs subagent_id`},
		{"subagent_receive", `{"limit":1}`, `argument "limit" needs subagent_id`},
		{"subagent_receive", `{"subagent_id":"a","cursor":9007199254740991,"limit":10}`, ""},
		{"subagent_receive", `{"subagent_id":"a","cursor":9007199254740992}`, `argument "cursor" must be from 0 to 9007199254740991`},
		{"subagent_receive", `{"subagent_id":"a","cursor":-1}`, `argument "cursor" must be a whole number`},
		{"subagent_receive", `{"subagent_id":"a","limit":0}`, `argument "limit" must be from 1 to 10, not 0`},
		{"subagent_receive", `{"subagent_id":"a","limit":11}`, `argument "limit" must be from 1 to 10, not 11`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + source + `,"part":0,"offset":0}}`, ""},
		{"subagent_receive", `{"answer":{"source":` + source + `,"part":0,"offset":0}}`, `argument "answer" needs subagent_id`},
		{"subagent_receive", `{"subagent_id":"a","limit":5,"answer":{"source":` + source + `,"part":0,"offset":0}}`, `argument "limit" does not go together with answer`},
		{"subagent_receive", `{"subagent_id":"a","answer":[]}`, `argument "answer" must be an object`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + source + `,"part":0}}`, `argument "answer" must have offset`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + source + `,"part":-1,"offset":0}}`, `argument "answer" must have part`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"part":0,"offset":0}}`, `argument "answer" must have source`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + source + `,"part":0,"offset":0,"limit":1}}`, `has an unknown member "limit"`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + strings.Replace(source, `"7"`, `"07"`, 1) + `,"part":0,"offset":0}}`, `commit_sequence`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + strings.Replace(source, `aa`, `AA`, 1) + `,"part":0,"offset":0}}`, `fingerprint`},
		{"subagent_receive", `{"subagent_id":"a","answer":{"source":` + strings.Replace(source, `"turn"`, `"turns"`, 1) + `,"part":0,"offset":0}}`, `turn`},
	} {
		call, settled, run := b.prepare(c.tool, c.args)
		if settled.Security == "" { // refused
			got := run(t.Context()).Output.Raw
			if c.want == "" || !strings.Contains(got, "Failed to read the arguments: ") || !strings.Contains(got, c.want) {
				t.Errorf("%s %.200s: %s", c.tool, c.args, got)
			}
			continue
		}
		if c.want != "" {
			t.Errorf("%s %.200s was taken", c.tool, c.args)
		}
		// Nothing is settled here: the record shows what the model gave.
		if settled.Arguments != call.Arguments {
			t.Errorf("%s %.200s became %.200s", c.tool, c.args, settled.Arguments)
		}
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	b := benchOf(t, nil, hubcall.Config{Endpoint: "ws://127.0.0.1:1/"})
	for _, c := range []struct {
		tool, args string
		class      state.InvokeType
	}{
		{"plan", `{"operation":"read"}`, state.ReadOnly},
		{"plan", `{"operation":"replace","markdown":""}`, state.SerialWrite},
		{"subagent_fork", `{}`, state.SerialWrite},
		{"subagent_send", `{"subagent_id":"a","operation":"stop"}`, state.SerialWrite},
		{"subagent_receive", `{}`, state.ReadOnly},
	} {
		if _, settled, _ := b.prepare(c.tool, c.args); settled.Type != c.class || settled.Security != state.Trusted {
			t.Errorf("%s %s: %s, %s", c.tool, c.args, settled.Type, settled.Security)
		}
	}
}
