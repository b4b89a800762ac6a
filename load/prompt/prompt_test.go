package prompt_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/load/document"
	"simplex/load/prompt"
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
		p, err := prompt.Parse(name, prompts.Shipped(name))
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
	if prompts.Shipped("none.yaml") != nil {
		t.Error("a file that is not there")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := prompt.Parse("p.yaml", []byte("heading_level: 3\nextra: 1\nsections:\n  - {name: a, text: '  x  ', colour: red}\n  - {name: b, title: B, stability: growing, text: ''}\n  - name: c\n    stability: volatile\n    text: |\n\n      one  \n      two\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := state.SystemPrompt{HeadingLevel: 3, Sections: []state.Section{
		{Name: "a", Stability: state.Immutable, Text: "  x"}, {Name: "b", Title: "B", Stability: state.Growing}, {Name: "c", Stability: state.Volatile, Text: "one\ntwo"},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(state.Value{})); d != "" {
		t.Error(d)
	}
	if p, err := prompt.Parse("p.yaml", []byte("sections: []")); err != nil || p.HeadingLevel != 2 || len(p.Sections) != 0 {
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
		_, err := prompt.Parse("p.yaml", []byte(c.doc))
		var e *document.Error
		if !errors.As(err, &e) || e.File != "p.yaml" || e.Path != c.path || e.Line != c.line {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
