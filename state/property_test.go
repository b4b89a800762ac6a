package state

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The generators make documents as trees; what decides is independent code: the
// standard library sorts and indents the same tree.

type tree = map[string]any

// rawNumber keeps its spelling.
type rawNumber = jsontext.Value

var oddText = []string{
	"", "a", "plain text", "\u2028\u2029", "😀🎉", "é\u0301", "\x00\x01\x1f\x7f", "\"\\/", "<b>&amp;</b>", "line\nline\r\n\ttab",
	"日本語のとても長いテキスト", strings.Repeat("x", 70) + "\n", "12345678\"", "1234567\\8", "\U0010FFFF", "~/",
}

var oddNumbers = []string{"0", "-0", "1.0", "1.10", "9007199254740993", "1e400", "-1.5E-7", "18446744073709551616", "0.1e+3"}

func genText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(oddText), rapid.String())
}

func genFree(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.Bool().Draw(t, "bool")
		case 1:
			return rawNumber(rapid.SampledFrom(oddNumbers).Draw(t, "number"))
		case 2:
			return genText().Draw(t, "text")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(genFree(depth-1), 0, 3).Draw(t, "array")
		default:
			return genObject(depth-1).Draw(t, "object")
		}
	})
}

func genObject(depth int) *rapid.Generator[tree] {
	return rapid.MapOfN(genText(), genFree(depth), 0, 3)
}

// maybe adds a member half of the time.
func maybe(t *rapid.T, to tree, key string, value func() any) {
	if rapid.Bool().Draw(t, key+"?") {
		to[key] = value()
	}
}

// strange adds members that no record knows.
func strange(t *rapid.T, to tree) tree {
	n := max(0, rapid.IntRange(-6, 2).Draw(t, "strange"))
	for range n {
		to["~"+genText().Draw(t, "name")] = genFree(2).Draw(t, "strange value")
		to["!"+genText().Draw(t, "name")] = genFree(2).Draw(t, "strange value")
		to["m"+genText().Draw(t, "name")+"_"] = genFree(1).Draw(t, "strange value")
	}
	return to
}

func extras(t *rapid.T, to tree) tree {
	maybe(t, to, "extras", func() any { return genObject(2).Draw(t, "extras") })
	return strange(t, to)
}

func pick(t *rapid.T, words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }

func genContent(t *rapid.T) any {
	return extras(t, tree{
		"type": pick(t, "text", "binary", "external_ref"), "raw": genText().Draw(t, "raw"),
		"modality": pick(t, "text", "image", "audio", "video", "document"),
	})
}

func genCall(t *rapid.T) any {
	return extras(t, tree{
		"type": pick(t, "read_only", "parall_write", "serial_write"), "security": pick(t, "default_deny", "require_confirm", "trusted"),
		"id": genText().Draw(t, "id"), "name": genText().Draw(t, "name"), "arguments": genFree(3).Draw(t, "arguments"),
	})
}

func genResult(t *rapid.T) any {
	return extras(t, tree{"query": genCall(t), "output": genContent(t)})
}

func many(t *rapid.T, limit int, one func(*rapid.T) any) any {
	out := []any{}
	for range rapid.IntRange(0, limit).Draw(t, "n") {
		out = append(out, one(t))
	}
	return out
}

func genMessage(t *rapid.T) any {
	m := tree{
		"type": pick(t, "user_input", "model_response", "invoke_return"), "role": pick(t, "", "user", "assistant", "tool", "x"),
		"content": many(t, 2, genContent),
	}
	maybe(t, m, "reasoning", func() any { return genContent(t) })
	maybe(t, m, "action_status", func() any { return genContent(t) })
	maybe(t, m, "invokes", func() any { return many(t, 2, genCall) })
	maybe(t, m, "invoke_return", func() any { return genResult(t) })
	maybe(t, m, "cost", func() any {
		return strange(t, tree{"prompt": rapid.Uint64().Draw(t, "p"), "generated": 7, "cache_hit": 0})
	})
	return extras(t, m)
}

func genStep(t *rapid.T) any {
	s := tree{"model_response": genMessage(t), "retain_priority": pick(t, "normal", "discardable", "pinned")}
	maybe(t, s, "invoke_returns", func() any { return many(t, 2, genMessage) })
	maybe(t, s, "commit_sequence", func() any { return rapid.Uint64Min(1).Draw(t, "seq") })
	return extras(t, s)
}

func genTurn(t *rapid.T) any {
	return extras(t, tree{
		"user_input": genMessage(t), "agent_loop_step": many(t, 3, genStep),
		"retain_priority": pick(t, "normal", "discardable", "pinned"),
	})
}

func genTool(t *rapid.T) any {
	tool := tree{
		"name": genText().Draw(t, "name"), "description": genText().Draw(t, "d"),
		"argument_schema": genObject(2).Draw(t, "schema"),
	}
	maybe(t, tool, "remote_type", func() any { return genText().Draw(t, "remote") })
	return extras(t, tool)
}

func genPrompt(t *rapid.T) any {
	sections := []any{}
	order := []string{"immutable", "growing", "volatile"}
	for i, rank := 0, 0; i < rapid.IntRange(0, 3).Draw(t, "sections"); i++ {
		rank = rapid.IntRange(rank, 2).Draw(t, "rank")
		sections = append(sections, strange(t, tree{
			"name": fmt.Sprint(genText().Draw(t, "name"), i), "title": genText().Draw(t, "title"),
			"stability": order[rank], "text": Canonical(genText().Draw(t, "text")),
		}))
	}
	return strange(t, tree{"heading_level": rapid.IntRange(-1, 7).Draw(t, "level"), "sections": sections})
}

func genDocument(t *rapid.T) tree {
	d := tree{"system_prompt": genPrompt(t), "tools": many(t, 2, genTool), "turns": many(t, 3, genTurn)}
	meta := tree{
		"schema_version": rapid.Uint32().Draw(t, "version"), "session_id": genText().Draw(t, "id"), "created_at": "", "updated_at": "x",
		"status": pick(t, "active", "completed", "failed"),
	}
	maybe(t, meta, "error", func() any { return genObject(2).Draw(t, "error") })
	d["meta"] = strange(t, meta)
	maybe(t, d, "loop", func() any {
		return strange(t, tree{
			"status": pick(t, "idle", "running", "failed"), "phase": pick(t, "ready", "model", "tools", "projection", "blocked"),
			"completed_exchanges": rapid.Uint64().Draw(t, "n"), "committed_response_sequence": 3, "error": genText().Draw(t, "error"),
			"pending_results": many(t, 2, genResult),
		})
	})
	return extras(t, d)
}

// documentText is the document as the contract wants it, by the standard library alone.
func documentText(t *rapid.T, d tree) []byte {
	raw, err := json.Marshal(d, json.Deterministic(true), jsontext.WithIndent("  "), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(false))
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

func TestDocumentsSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := genDocument(t)
		want := documentText(t, d)
		st, err := Decode(want)
		if err != nil {
			t.Fatalf("%v\n%s", err, want)
		}
		var got bytes.Buffer
		if err := Encode(&got, st); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Fatalf("-document +written:\n%s", diff)
		}
		compact, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		var again State
		if err := json.Unmarshal(compact, &again); err != nil {
			t.Fatal(err)
		}
		got.Reset()
		if err := Encode(&got, &again); err != nil || got.String() != string(want) {
			t.Fatalf("compact form lost something: %v\n%s", err, cmp.Diff(string(want), got.String()))
		}
	})
}

// Keys in another order, other spacing and escaped spellings change nothing.
func TestSpellingDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := documentText(t, genDocument(t))
		loose, err := json.Marshal(jsontext.Value(want), jsontext.EscapeForJS(true), jsontext.EscapeForHTML(true))
		if err != nil {
			t.Fatal(err)
		}
		st, err := Decode(shuffle(t, loose))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := Encode(&got, st); err != nil || got.String() != string(want) {
			t.Fatalf("%v\n%s", err, cmp.Diff(string(want), got.String()))
		}
	})
}

// shuffle reverses the members of every object.
func shuffle(t *rapid.T, raw []byte) []byte {
	v := jsontext.Value(raw)
	switch v.Kind() {
	case '{':
		dec := jsontext.NewDecoder(bytes.NewReader(raw))
		_, _ = dec.ReadToken()
		var out []byte
		for dec.PeekKind() == '"' {
			key, _ := dec.ReadValue()
			member := append(bytes.Clone(key), ':')
			val, _ := dec.ReadValue()
			member = append(member, shuffle(t, bytes.Clone(val))...)
			if out != nil {
				member = append(member, ',')
			}
			out = append(member, out...)
		}
		return append(append([]byte{'{'}, out...), '}')
	case '[':
		dec := jsontext.NewDecoder(bytes.NewReader(raw))
		_, _ = dec.ReadToken()
		out := []byte{'['}
		for dec.PeekKind() != ']' {
			if len(out) > 1 {
				out = append(out, ',')
			}
			val, _ := dec.ReadValue()
			out = append(out, shuffle(t, bytes.Clone(val))...)
		}
		return append(out, ']')
	}
	return raw
}
