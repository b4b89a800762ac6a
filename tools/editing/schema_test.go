package editing_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/editing"
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

func TestSet(t *testing.T) {
	t.Parallel()
	builtin, err := editing.New(editing.Config{})
	must(t, err)
	directory, err := editing.New(editing.Config{SchemaDir: "schema", DecodeYAML: decodeYAML})
	must(t, err)
	for name, set := range map[string]*editing.Set{"built in": builtin, "directory": directory} {
		if len(set.Tools()) != 1 || set.Tools()[0].Declaration().Name != "str_replace_edit" {
			t.Fatalf("%s: tools %v", name, set.Tools())
		}
		d := set.Tools()[0].Declaration()
		if d.Offer() != builtin.Tools()[0].Declaration().Offer() {
			t.Errorf("%s differs", name)
		}
		if v, _ := d.Schema.Get("additionalProperties"); v != state.BoolValue(false) {
			t.Errorf("%s: the declaration is open", name)
		}
		skill := set.Skill()
		if skill == nil || skill.Name != "editing" || !strings.Contains(skill.Text, "`str_replace_edit`") {
			t.Fatalf("%s: skill %+v", name, skill)
		}
		for _, status := range []string{"modified", "unchanged", "published_sync_failed"} {
			contains(t, skill.Text, "`"+status+"`")
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(set))
		if g := r.Groups(); len(g) != 1 || g[0].Name != "editing" || len(g[0].Missing) != 0 {
			t.Errorf("%s: groups %+v", name, g)
		}
		must(t, r.Shutdown(t.Context()))
	}
}

// TestArguments goes over every clause of the declaration, with one call on each side
// of the line.
func TestArguments(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	for args, want := range map[string]string{
		`{"path":"/","old_text":"a","new_text":""}`:                     `{"context_lines":3,"new_text":"","old_text":"a","path":"/"}`,
		`{"old_text":"a","new_text":""}`:                                `argument "path" is required`,
		`{"path":"","old_text":"a","new_text":""}`:                      `argument "path" must not be empty`,
		`{"path":"\u0000","old_text":"a","new_text":""}`:                `argument "path" must not contain NUL`,
		`{"path":"/","new_text":""}`:                                    `argument "old_text" is required`,
		`{"path":"/","old_text":"","new_text":"b"}`:                     `argument "old_text" must not be empty`,
		`{"path":"/","old_text":["a"],"new_text":"b"}`:                  `argument "old_text" must be a string, not a list`,
		`{"path":"/","old_text":"a"}`:                                   `argument "new_text" is required`,
		`{"path":"/","old_text":"a","new_text":null}`:                   `argument "new_text" is required`,
		`{"path":"/","old_text":"a","new_text":1}`:                      `argument "new_text" must be a string, not a number`,
		`{"path":"/","old_text":"a","new_text":"","context_lines":0}`:   `{"context_lines":0,"new_text":"","old_text":"a","path":"/"}`,
		`{"path":"/","old_text":"a","new_text":"","context_lines":20}`:  `{"context_lines":20,"new_text":"","old_text":"a","path":"/"}`,
		`{"path":"/","old_text":"a","new_text":"","context_lines":21}`:  `argument "context_lines" must be from 0 to 20, not 21`,
		`{"path":"/","old_text":"a","new_text":"","context_lines":-1}`:  `argument "context_lines" must be a whole number of 0 or more, not -1`,
		`{"path":"/","old_text":"a","new_text":"","context_lines":"3"}`: `argument "context_lines" must be an integer, not a string`,
		`{"path":"/","old_text":"a","new_text":"","replace_all":true}`:  `unknown argument "replace_all"; the valid ones are: context_lines, new_text, old_text, path`,
	} {
		v, err := state.ParseValue([]byte(args))
		must(t, err)
		call := state.Call{ID: "c", Name: "str_replace_edit", Arguments: v}
		settled, run := r.Prepare(call, nil)
		got := settled.Arguments.String()
		if settled == call {
			got = run(t.Context()).Output.Raw
			want = "Failed to read the arguments: " + want + " (tool str_replace_edit; call c)"
		} else if settled.Type != state.SerialWrite || settled.Security != state.RequireConfirm {
			t.Errorf("classes %s, %s", settled.Type, settled.Security)
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", args, got, want)
		}
	}
}

func TestUnapprovedEditIsNotMade(t *testing.T) {
	t.Parallel()
	path := file(t, "a\n")
	r := newRegistry(t, nil)
	args, err := state.ValueOf(map[string]string{"path": path, "old_text": "a", "new_text": "b"})
	must(t, err)
	_, run := r.Prepare(state.Call{Name: "str_replace_edit", Arguments: args}, nil)
	contains(t, run(t.Context()).Output.Raw, "security check denied")
	holds(t, path, "a\n")
}
