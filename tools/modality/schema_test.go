package modality_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/modality"
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
	if _, err := modality.New(modality.Config{}); err == nil {
		t.Error("a set without a model was built")
	}
	builtin, err := modality.New(modality.Config{Model: says("")})
	must(t, err)
	directory, err := modality.New(modality.Config{Model: says(""), SchemaDir: "schema", DecodeYAML: decodeYAML})
	must(t, err)
	for name, set := range map[string]*modality.Set{"built in": builtin, "directory": directory} {
		if len(set.Tools()) != 1 {
			t.Fatalf("%s: tools %v", name, set.Tools())
		}
		d := set.Tools()[0].Declaration()
		if d.Name != "modality_assist" || d.Offer() != builtin.Tools()[0].Declaration().Offer() {
			t.Errorf("%s differs", name)
		}
		if v, _ := d.Schema.Get("additionalProperties"); v != state.BoolValue(false) {
			t.Errorf("%s: the declaration is open", name)
		}
		if skill := set.Skill(); skill == nil || !strings.Contains(skill.Text, "`modality_assist`") {
			t.Errorf("%s: skill %+v", name, skill)
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(set))
		if g := r.Groups(); len(g) != 1 || g[0].Name != "modality_assist" || len(g[0].Missing) != 0 {
			t.Errorf("%s: groups %+v", name, g)
		}
		must(t, r.Shutdown(t.Context()))
	}
}

// TestArguments goes over every clause of the declaration, with one call on each side
// of the line.
func TestArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("x"))
	for args, want := range map[string]string{
		`{"path":["a.png"],"request":"r"}`:                           "",
		`{"path":["a.JPG","b.Jpeg","c.gif","d.WebP"],"request":"r"}`: "",
		`{"request":"r"}`:                                            `argument "path" is required`,
		`{"path":[],"request":"r"}`:                                  `argument "path" must have at least one element`,
		`{"path":"a.png","request":"r"}`:                             `argument "path" must be a list of strings, not a string`,
		`{"path":["a.png",1],"request":"r"}`:                         `argument "path" must be a list of strings, but element 1 is a number`,
		`{"path":["a.png",""],"request":"r"}`:                        `argument "path[1]" must not be empty`,
		`{"path":["a\u0000.png"],"request":"r"}`:                     `argument "path[0]" must not contain NUL`,
		`{"path":["a.png","b.bmp"],"request":"r"}`:                   `argument "path[1]" must end with .png, .jpg, .jpeg, .gif or .webp`,
		`{"path":["png"],"request":"r"}`:                             `argument "path[0]" must end with`,
		`{"path":["a.png"]}`:                                         `argument "request" is required`,
		`{"path":["a.png"],"request":""}`:                            `argument "request" must not be empty`,
		`{"path":["a.png"],"request":"r","extra_modality":"vision"}`: "",
		`{"path":["a.png"],"request":"r","extra_modality":"audio"}`:  `argument "extra_modality" must be one of ["vision"]`,
		`{"path":["a.png"],"request":"r","system_prompt":"p"}`:       "",
		`{"path":["a.png"],"request":"r","system_prompt":""}`:        `argument "system_prompt" must not be empty`,
		`{"path":["a.png"],"request":"r","system_prompt":7}`:         `argument "system_prompt" must be a string, not a number`,
		`{"path":["a.png"],"request":"r","model":"x"}`:               `unknown argument "model"; the valid ones are: extra_modality, path, request, system_prompt`,
	} {
		_, settled, run := b.prepare(args)
		if settled.Security == "" {
			got := run(t.Context()).Output.Raw
			if want == "" || !strings.HasPrefix(got, "Failed to read the arguments: "+want) {
				t.Errorf("%s: %s", args, got)
			}
			continue
		}
		if want != "" || settled.Type != state.ReadOnly || settled.Security != state.Trusted {
			t.Errorf("%s was taken as %s, %s", args, settled.Type, settled.Security)
		}
		contains(t, settled.Arguments.String(), `"extra_modality":"vision"`, `"system_prompt":"`)
	}
}
