package tools_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"simplex/state"
	"simplex/tools"
)

// decodeYAML is what the host gives in.
func decodeYAML(_ string, raw []byte) (state.Value, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return state.Value{}, err
	}
	return state.ValueOf(v)
}

func yamlTool(name, description string) string {
	return "name: " + name + "\ndescription: " + description + "\nargument_schema:\n  type: object\n  additionalProperties: false\n"
}

// made keeps the declaration that it was built from.
type made struct {
	tool
	d tools.Declaration
}

func (m *made) Declaration() tools.Declaration { return m.d }

func makers(names ...string) []tools.Maker {
	var out []tools.Maker
	for _, name := range names {
		out = append(out, tools.Maker{Name: name, Make: func(d tools.Declaration) (tools.Tool, error) {
			if err := d.RefuseConfig(); err != nil {
				return nil, err
			}
			return &made{d: d}, nil
		}})
	}
	return out
}

func builtin(t *testing.T) []byte {
	t.Helper()
	raw, err := tools.Bundle(fstest.MapFS{
		"a.yaml":     {Data: []byte(yamlTool("a", "built in"))},
		"b.yaml":     {Data: []byte(yamlTool("b", "built in"))},
		"skill.yaml": {Data: []byte("name: s\ntext: built in\n")},
	}, decodeYAML)
	must(t, err)
	return raw
}

func TestWhereDeclarationsAreFound(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	beside := filepath.Join(bin, "schemas", "my")
	env := t.TempDir()
	for dir, word := range map[string]string{beside: "beside", env: "env"} {
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(yamlTool("a", word)), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "skill.yaml"), []byte("name: s\ntext: "+word+"\n"), 0o600))
	}
	for name, c := range map[string]struct {
		env, exe string
		want     string // description of each tool, and the skill's text
	}{
		"built in":                {"", "/nowhere/simplex", "a built in, b built in; built in"},
		"beside the executable":   {"", filepath.Join(bin, "simplex"), "a beside; beside"},
		"environment wins":        {env, filepath.Join(bin, "simplex"), "a env; env"},
		"environment is the last": {filepath.Join(env, "missing"), filepath.Join(bin, "simplex"), "; "},
	} {
		var log strings.Builder
		src := tools.Source{
			Set: "my", Builtin: builtin(t), DecodeYAML: decodeYAML,
			Getenv: func(name string) string {
				if name != "SIMPLEX_MY_SCHEMA_DIR" {
					t.Errorf("asked for %s", name)
				}
				return c.env
			},
			Executable: func() (string, error) { return c.exe, nil },
			Logger:     slog.New(slog.NewTextHandler(&log, nil)),
		}
		built, skill := src.Build(makers("a", "b"))
		var got []string
		for _, b := range built {
			got = append(got, b.Declaration().Name+" "+b.Declaration().Description)
		}
		all := strings.Join(got, ", ") + "; "
		if skill != nil {
			all += skill.Text
		}
		if all != c.want {
			t.Errorf("%s: %s\nlog: %s", name, all, log.String())
		}
		if strings.Count(c.want, ",") == 0 && !strings.Contains(log.String(), "b.yaml: at /: ") {
			t.Errorf("%s: the missing file is not logged: %s", name, log.String())
		}
	}
}

func TestBuildLeavesOutWhatCannotBeHad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	write("good.yaml", yamlTool("good", "d"))
	write("twin.yaml", yamlTool("good", "d"))
	write("vocabulary.yaml", yamlTool("vocabulary", "d")+"  oneOf: []\n")
	write("broken.yaml", "name: [")
	write("config.yaml", yamlTool("config", "d")+"config: {key: secret}\n")
	write("skill.yaml", "name: s\n")
	var log strings.Builder
	src := tools.Source{Set: "my", Dir: dir, DecodeYAML: decodeYAML, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	built, skill := src.Build(append(
		makers("good", "twin", "vocabulary", "broken", "config"),
		tools.Maker{Name: "good", Make: func(tools.Declaration) (tools.Tool, error) { return nil, errors.New("unreachable") }},
	))
	if len(built) != 1 || built[0].Declaration().Name != "good" || skill != nil {
		t.Errorf("built %d tools, skill %v", len(built), skill)
	}
	for _, want := range []string{
		"tool declared twice", "vocabulary.yaml: at /argument_schema/oneOf: ", "broken.yaml: at /: ",
		"config.yaml: at /config/key: ", "skill.yaml: at /text: ",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("a config value was logged")
	}
}

func TestBundleRefusesWhatABuildWouldDrop(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"other name": yamlTool("b", "d"),
		"bad schema": yamlTool("a", "d") + "  oneOf: []\n",
	} {
		if _, err := tools.Bundle(fstest.MapFS{"a.yaml": {Data: []byte(file)}}, decodeYAML); err == nil {
			t.Errorf("%s was bundled", name)
		}
	}
}
