package tools_test

import (
	"errors"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
)

func TestDeclarationKeys(t *testing.T) {
	t.Parallel()
	const schema = `"argument_schema":{"type":"object"}`
	for _, c := range []struct{ doc, want string }{
		{`{"name":"t","description":"d \n",` + schema + `}`, ""},
		{`{"name":"t","description":"d","type":7,"security":[],"other":1,` + schema + `}`, ""},
		{`{"name":"t","description":"d","config":{"a":1},` + schema + `}`, ""},
		{`[]`, "in t.yaml: at /: must be a mapping"},
		{`{"description":"d",` + schema + `}`, "in t.yaml: at /name: is required and must not be empty"},
		{`{"name":"","description":"d",` + schema + `}`, "in t.yaml: at /name: is required and must not be empty"},
		{`{"name":5,"description":"d",` + schema + `}`, "in t.yaml: at /name: must be a string"},
		{`{"name":"t",` + schema + `}`, "in t.yaml: at /description: is required and must not be empty"},
		{`{"name":"t","description":" \n",` + schema + `}`, "in t.yaml: at /description: is required and must not be empty"},
		{`{"name":"t","description":"d"}`, "in t.yaml: at /argument_schema: is required"},
		{`{"name":"t","description":"d","argument_schema":null}`, "in t.yaml: at /argument_schema: must be a mapping"},
		{`{"name":"t","description":"d","config":null,` + schema + `}`, "in t.yaml: at /config: must be a mapping"},
		{`{"name":"t","description":"d","config":[],` + schema + `}`, "in t.yaml: at /config: must be a mapping"},
		{`{"name":"t","description":"d","argument_schema":{"type":"object","properties":{"p":{"type":"number","description":"d"}}}}`, "in t.yaml: at /argument_schema/properties/p/type: must be one of string, boolean, integer, array, object"},
		{`{"name":"t","description":"d","config":3,` + schema + `}`, "in t.yaml: at /config: must be a mapping"},
	} {
		d, err := tools.DecodeDeclaration("t.yaml", value(t, c.doc))
		if got := text(err); got != c.want {
			t.Errorf("%s: %q, want %q", c.doc, got, c.want)
		}
		if err == nil && (d.Description != "d" || !d.Config.IsSet()) {
			t.Errorf("%s: %+v", c.doc, d)
		}
	}
}

func TestConfigErrorsHideTheValue(t *testing.T) {
	t.Parallel()
	d, err := tools.DecodeDeclaration("t.yaml", value(t, `{"name":"t","description":"d","config":{"token":"s3cret"},"argument_schema":{"type":"object"}}`))
	must(t, err)
	want := "in t.yaml: at /config/token: this tool takes no configuration"
	if err := d.RefuseConfig(); text(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := (tools.Declaration{Config: state.EmptyObject()}).RefuseConfig(); err != nil {
		t.Error(err)
	}
}

func FuzzDeclaration(f *testing.F) {
	f.Add(`{"name":"t","description":"d","argument_schema":{"type":"object","properties":{"p":{"type":"array","items":{"type":"string"},"default":[]}},"anyOf":[{"required":["p"],"not":{"required":["p"]}}]}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := state.ParseValue([]byte(raw))
		if err != nil {
			return
		}
		d, err := tools.DecodeDeclaration("f", v)
		if _, ok := errors.AsType[*tools.DeclarationError](err); err != nil && !ok {
			t.Fatalf("untyped error %v", err)
		}
		if err == nil && (d.Name == "" || d.Description == "" || !d.Schema.IsSet()) {
			t.Fatalf("incomplete: %+v", d)
		}
	})
}

func TestSkills(t *testing.T) {
	t.Parallel()
	s, err := tools.DecodeSkill("skill.yaml", value(t, `{"name":" s ","title":" T\n","description":"","keywords":[" a ","b"],"text":"\n\n one  \n\n  two\t\n\n"}`))
	must(t, err)
	if s.Name != "s" || s.Title != "T" || s.Text != "one\n\n  two" || strings.Join(s.Keywords, "|") != "a|b" {
		t.Errorf("%+v", s)
	}
	for doc, want := range map[string]string{
		`7`:                                             "/",
		`{"text":"x"}`:                                  "/name",
		`{"name":" ","text":"x"}`:                       "/name",
		`{"name":"s"}`:                                  "/text",
		`{"name":"s","text":" \n"}`:                     "/text",
		`{"name":"s","text":["x"]}`:                     "/text",
		`{"name":"s","text":"x","title":1}`:             "/title",
		`{"name":"s","text":"x","extra":""}`:            "/extra",
		`{"name":"s","text":"x","keywords":"a"}`:        "/keywords",
		`{"name":"s","text":"x","keywords":["a",""]}`:   "/keywords",
		`{"name":"s","text":"x","keywords":["a",1]}`:    "/keywords",
		`{"name":"s","text":"x","keywords":["a"," a"]}`: "/keywords",
	} {
		_, err := tools.DecodeSkill("skill.yaml", value(t, doc))
		if de, ok := errors.AsType[*tools.DeclarationError](err); !ok || de.Path != want || de.File != "skill.yaml" {
			t.Errorf("%s: %v, want a fault at %s", doc, err, want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
