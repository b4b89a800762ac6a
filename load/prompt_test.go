package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/prompts"
	"simplex/state"
)

// TestShippedPrompts is the check that the embedded files get instead of one at each
// start: they parse, render, and have the promised sections.
func TestShippedPrompts(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]state.Section{
		"coding_agent.yaml": {Name: "persona", Title: "Role"}, "general_agent.yaml": {Name: "persona", Title: "Role"},
		"operations/compact.yaml": {}, "operations/auto_compact.yaml": {}, "operations/auto_compact_continue.yaml": {},
	} {
		p, err := ParsePrompt(name, prompts.Shipped(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Sections) != 1 || p.Sections[0].Stability != state.Immutable || p.Sections[0].Title != section.Title || section.Name != "" && p.Sections[0].Name != section.Name {
			t.Errorf("%s: sections %+v", name, p.Sections)
		}
		text, err := p.Render()
		if err != nil || len(text) < 400 || len(text) > 6000 {
			t.Errorf("%s: renders %d bytes, %v", name, len(text), err)
		}
	}
	for i := range keys {
		if k := &keys[i]; k.Type == TypePrompt && prompts.Shipped(strings.TrimPrefix(k.Default, "prompts/")) == nil {
			t.Errorf("%s: nothing is shipped as %s", k.Path, k.Default)
		}
	}
	if prompts.Shipped("none.yaml") != nil {
		t.Error("a file that is not there")
	}
}

func TestParsePrompt(t *testing.T) {
	t.Parallel()
	got, err := ParsePrompt("p.yaml", []byte("heading_level: 3\nextra: 1\nsections:\n  - {name: a, text: '  x  ', colour: red}\n  - {name: b, title: B, stability: growing, text: ''}\n  - name: c\n    stability: volatile\n    text: |\n\n      one  \n      two\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := state.SystemPrompt{HeadingLevel: 3, Sections: []state.Section{
		{Name: "a", Stability: state.Immutable, Text: "  x"}, {Name: "b", Title: "B", Stability: state.Growing}, {Name: "c", Stability: state.Volatile, Text: "one\ntwo"},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(state.Value{})); d != "" {
		t.Error(d)
	}
	if p, err := ParsePrompt("p.yaml", []byte("sections: []")); err != nil || p.HeadingLevel != 2 || len(p.Sections) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestBadPrompts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc, path string
		line            int
	}{
		{"no sections", "heading_level: 2", "/sections", 0},
		{"null sections", "sections:", "/sections", 1},
		{"level 0", "heading_level: 0\nsections: []", "/heading_level", 1},
		{"level 7", "heading_level: 7\nsections: []", "/heading_level", 1},
		{"level as text", "heading_level: '2'\nsections: []", "/heading_level", 1},
		{"section that is text", "sections:\n  - a", "/sections/0", 2},
		{"no name", "sections:\n  - text: x", "/sections/0/name", 2},
		{"empty name", "sections:\n  - {name: '', text: x}", "/sections/0/name", 2},
		{"no text", "sections:\n  - name: x", "/sections/0/text", 2},
		{"null text", "sections:\n  - name: x\n    text:", "/sections/0/text", 3},
		{"boolean text", "sections:\n  - name: x\n    text: no", "/sections/0/text", 3},
		{"boolean title", "sections:\n  - name: x\n    title: on\n    text: a", "/sections/0/title", 3},
		{"unknown stability", "sections:\n  - name: x\n    stability: Growing\n    text: a", "/sections/0/stability", 3},
		{"twice", "sections:\n  - {name: x, text: a}\n  - {name: x, text: b}", "/sections/1", 3},
		{"order", "sections:\n  - {name: x, text: a, stability: volatile}\n  - {name: z, text: b}", "/sections/1", 3},
		{"skill", "sections:\n  - {name: skill.x, text: a}", "/sections/0/name", 2},
		{"environment", "sections:\n  - {name: environment.runtime, text: a}", "/sections/0/name", 2},
		{"signature", "sections:\n  - {name: signature.runtime, text: a}", "/sections/0/name", 2},
		{"memory", "sections:\n  - {name: memory.runtime, text: a}", "/sections/0/name", 2},
		{"no mapping", "- a", "", 1},
	} {
		_, err := ParsePrompt("p.yaml", []byte(c.doc))
		var e *Error
		if !errors.As(err, &e) || e.File != "p.yaml" || e.Path != c.path || e.Line != c.line {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// TestPromptFiles shows where prompts come from.
func TestPromptFiles(t *testing.T) {
	t.Parallel()
	const own = "sections: [{name: a, text: own}]"
	base := "driver_model: m\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h}\n"
	for _, c := range []struct {
		name, worker string
		files        map[string]string
		system, fail string // text of the system prompt, or a part of the error
	}{
		{"embedded", "", nil, "You are an experienced", ""},
		{"installation", "", map[string]string{"prompts/coding_agent.yaml": own}, "own", ""},
		{"installation, same as shipped", "", map[string]string{"prompts/coding_agent.yaml": string(prompts.Shipped("coding_agent.yaml"))}, "You are an experienced", ""},
		{"configured", "system_prompt_file: my/p.yaml", map[string]string{"my/p.yaml": own}, "own", ""},
		{"empty prompt is allowed", "system_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: []"}, "", ""},
		{"configured and missing", "system_prompt_file: my/p.yaml", nil, "", "config.yaml:5: /worker/system_prompt_file: "},
		{"configured as the default, missing", "system_prompt_file: prompts/coding_agent.yaml", nil, "", "config.yaml:5: /worker/system_prompt_file: "},
		{"a directory", "system_prompt_file: my", map[string]string{"my/p.yaml": own}, "", "not a regular file"},
		{"outside", "system_prompt_file: ../p.yaml", nil, "", ".. component"},
		{"broken in the installation", "", map[string]string{"prompts/operations/compact.yaml": "sections: 5"}, "", "prompts/operations/compact.yaml:1: /sections: must be a list"},
		{"blank operation", "compact_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: [{name: a, text: ' '}]"}, "", "must not be blank"},
		{"blank continuation", "auto_compact_continue_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: []"}, "", "must not be blank"},
		{"automatic compaction is off, default not read", "", map[string]string{"prompts/operations/auto_compact.yaml": "5"}, "You are", ""},
		{"automatic compaction is off, key present", "auto_compact_prompt_file: p.yaml", map[string]string{"p.yaml": "5"}, "", "p.yaml:1"},
		{"automatic compaction is on", "auto_compact_threshold: 5", map[string]string{"prompts/operations/auto_compact.yaml": "5"}, "", "auto_compact.yaml:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			exe := t.TempDir()
			for name, text := range c.files {
				file := filepath.Join(exe, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			doc := base
			if c.worker != "" {
				doc += "worker:\n  " + c.worker + "\n"
			}
			cfg, err := fromText(doc, Options{Env: Env{ExeDir: exe}})
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Fatalf("got %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := cfg.Prompts.System.Text()
			if err != nil || !strings.Contains(text, c.system) || (cfg.Prompts.AutoCompact != nil) != strings.Contains(c.worker, "threshold") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func TestHookConfig(t *testing.T) {
	t.Parallel()
	write := func(dir, text string) string {
		file := filepath.Join(dir, "context_statistic", "config.yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	read := func(dir, exe string) (uint64, error) {
		env := environment(map[string]string{hookDirVariable: dir})
		env.ExeDir = exe
		return HookConfig("context_statistic", env)
	}
	exe := t.TempDir()
	if n, err := read("", exe); n != 128000 || err != nil {
		t.Errorf("built in: %d, %v", n, err)
	}
	write(filepath.Join(exe, "schemas", "loop"), "name: context_statistic\nconfig: {context_window_tokens: 7}")
	if n, err := read("", exe); n != 7 || err != nil {
		t.Errorf("beside the executable: %d, %v", n, err)
	}
	if n, err := read(write(t.TempDir(), "description: x\nconfig: {}"), exe); n != 128000 || err != nil {
		t.Errorf("by the variable: %d, %v", n, err)
	}
	if _, err := read(t.TempDir(), exe); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("variable without file: %v", err)
	}
	for text, path := range map[string]string{
		"name: other": "/name", "name: on": "/name", "description: 5": "/description", "extra: 1": "/extra", "config:": "/config", "config: {x: 1}": "/config/x", "": "",
		"config: {context_window_tokens: 0}": "/config/context_window_tokens", "config: {context_window_tokens: 1.0}": "/config/context_window_tokens", "config: {context_window_tokens: '5'}": "/config/context_window_tokens",
	} {
		_, err := read(write(t.TempDir(), text), exe)
		var e *Error
		if !errors.As(err, &e) || e.Line != 1 || e.Path != path {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := HookConfig("../x", Env{}); err == nil {
		t.Error("a path as a name")
	}
}
