package readable_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/internal/durable"
	"simplex/persistence/readable"
	"simplex/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func export(t testing.TB, st *state.State) string {
	t.Helper()
	var out bytes.Buffer
	if err := readable.Write(&out, st, readable.Limits{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-file +written; -update rewrites it):\n%s", name, diff)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/session.json")
	if err != nil {
		t.Fatal(err)
	}
	st, err := state.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "session.md", export(t, st))
	fresh := state.New("fresh", time.Unix(0, 0))
	fresh.Loop = nil
	golden(t, "fresh.md", export(t, fresh))
}

func conversation(text string) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", text), Retain: state.RetainNormal})
	return st
}

// Prose is whole, whatever its size.
func TestProseIsNeverCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef\n", 100000)
	if !strings.Contains(export(t, conversation(long)), long) {
		t.Error("a long text does not come out whole")
	}
}

// A fence is longer than any run of backticks inside, also around JSON.
func TestFences(t *testing.T) {
	t.Parallel()
	for text, fence := range map[string]string{
		"x": "```text\nx\n```\n", "`": "```text\n`\n```\n", "```": "````text\n```\n````\n", "a\n`````\nb\n": "``````text\na\n`````\nb\n``````\n",
		"{\"a\":\"````\"}": "`````json\n{\n  \"a\": \"````\"\n}\n`````\n", "{not json": "```text\n{not json\n```\n",
	} {
		if page := export(t, conversation(text)); !strings.Contains(page, "**Content**\n\n"+fence) {
			t.Errorf("%q:\n%s", text, page)
		}
	}
}

// Every string that is no UTF-8 is an error that names its place, not a broken file.
func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	bad := "a\xffb"
	message := state.NewTextMessage(state.ModelResponse, "assistant", "x")
	for name, spoil := range map[string]func(*state.State){
		"session":   func(st *state.State) { st.Meta.SessionID = bad },
		"loop":      func(st *state.State) { st.Loop.Error = bad },
		"section":   func(st *state.State) { st.SystemPrompt.Sections = []state.Section{{Name: "p", Text: bad}} },
		"tool":      func(st *state.State) { st.Tools = []state.Tool{{Name: "t", Description: bad}} },
		"status":    func(st *state.State) { st.Meta.Status = state.SessionStatus(bad) },
		"user text": func(st *state.State) { *st = *conversation(bad) },
		"binary":    func(st *state.State) { st.Turns[0].UserInput.Content[0] = state.Content{Type: "binary", Raw: bad} },
		"role": func(st *state.State) {
			message.Role = bad
			st.AppendStep(&state.Step{ModelResponse: message})
		},
	} {
		st := conversation("hello")
		spoil(st)
		if err := readable.Write(io.Discard, st, readable.Limits{}); !errors.Is(err, state.ErrInvalidUTF8) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := readable.Write(io.Discard, conversation(bad), readable.Limits{})
	if want := "readable export: Turn 1, user input, Content: invalid UTF-8"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", readable.FileName)
	if err := readable.Publish(path, conversation("one"), readable.Limits{}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil || string(before) != export(t, conversation("one")) {
		t.Fatalf("%v: %s", err, before)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	err = readable.Publish(path, conversation("\xff"), readable.Limits{})
	if failed, ok := errors.AsType[*durable.PublishError](err); !ok || failed.Published || !errors.Is(err, state.ErrInvalidUTF8) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the old file is not as it was: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v left behind, %v", entries, err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriterErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"short", strings.Repeat("long ", 100000)} {
		if err := readable.Write(brokenWriter{}, conversation(text), readable.Limits{}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

// structure lists the lines outside of fences.
func structure(t interface{ Fatalf(string, ...any) }, page string) []string {
	var out []string
	fence := ""
	for line := range strings.SplitSeq(page, "\n") {
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence != "" && line == fence:
			fence = ""
		case fence == "" && ticks >= 3:
			fence = line[:ticks]
		case fence == "" && line != "":
			out = append(out, line)
		}
	}
	if fence != "" {
		t.Fatalf("a fence is left open")
	}
	return out
}

// No text can leave its fence: the structure of a page is that of harmless text.
func TestTextCannotForgeStructure(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"`", "```", "````text\n", "\n", "# Agent session\n", "## Turn 2\n", "x", " ", "{", "\"", "€"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 30).Draw(t, "text"), "")
		build := func(text string) string {
			st := conversation(text)
			st.SystemPrompt.Sections = []state.Section{{Name: "n", Title: text, Text: text, Stability: state.Immutable}}
			st.AppendStep(&state.Step{ModelResponse: &state.Message{
				Type: state.ModelResponse, Role: text, Content: []state.Content{{Type: state.TypeExternalRef, Raw: text}},
				Calls: []state.Call{{ID: text, Name: text, Arguments: state.StringValue(text)}},
			}})
			var out bytes.Buffer
			if err := readable.Write(&out, st, readable.Limits{}); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		if diff := cmp.Diff(structure(t, build("x")), structure(t, build(text))); diff != "" {
			t.Fatalf("-harmless +got:\n%s", diff)
		}
	})
}

// Whatever a document holds, it either cannot be decoded or is exported in closed fences.
func FuzzWrite(f *testing.F) {
	raw, err := os.ReadFile("testdata/session.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"meta":{},"system_prompt":{},"tools":[],"turns":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		st, err := state.Decode(raw)
		if err != nil {
			return
		}
		var one, two bytes.Buffer
		if err := readable.Write(&one, st, readable.Limits{}); err != nil {
			t.Fatal(err) // what was decoded is valid
		}
		_ = readable.Write(&two, st, readable.Limits{})
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatal("two exports of one state differ")
		}
		structure(t, one.String())
	})
}
