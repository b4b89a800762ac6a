package state

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func prompt(t *testing.T, sections ...Section) SystemPrompt {
	t.Helper()
	p := SystemPrompt{HeadingLevel: 2}
	for _, s := range sections {
		if err := p.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" \t\r\n \n", ""},
		{"a", "a"},
		{"a\r\nb\t \n", "a\nb"},
		{"\n\n  a\n\n\nb  \n\n", "  a\n\n\nb"},
		{"a\u00a0", "a\u00a0"},
		{"\va\v", "\va\v"},
	} {
		if got := Canonical(c.in); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("a \t\r\nb"))).Draw(t, "text")
		once := Canonical(text)
		if twice := Canonical(once); twice != once {
			t.Fatalf("%q became %q, then %q", text, once, twice)
		}
		if !isCanonical(once) || isCanonical(text) != (once == text) {
			t.Fatalf("isCanonical is wrong about %q or %q", text, once)
		}
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		level    int
		sections []Section
		want     string
	}{
		{"nothing", 2, nil, ""},
		{"title and body", 3, []Section{{Title: "Role", Text: "Be brief."}}, "### Role\n\nBe brief.\n"},
		{"no title", 1, []Section{{Text: "\nBody  \n\n"}}, "Body\n"},
		{"title without body", 2, []Section{{Title: "Empty", Text: " \n"}}, ""},
		{"joined by one blank line", 6, []Section{{Text: "a"}, {Title: "E"}, {Title: "T", Text: "b\n\nc"}, {}}, "a\n\n###### T\n\nb\n\nc\n"},
	} {
		got, err := SystemPrompt{HeadingLevel: c.level, Sections: c.sections}.Render()
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, level := range []int{-1, 0, 7} {
		if _, err := (SystemPrompt{HeadingLevel: level}).Render(); !errors.Is(err, ErrHeadingLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

func TestPromptEdits(t *testing.T) {
	t.Parallel()
	base := []Section{
		{Name: "i", Stability: Immutable, Text: "fixed"},
		{Name: "g", Stability: Growing, Text: "one"},
		{Name: "e", Stability: Growing},
		{Name: "v", Stability: Volatile, Text: "now"},
	}
	for _, c := range []struct {
		name string
		edit func(*SystemPrompt) error
		err  error
		text string // of all sections, joined by |
	}{
		{"append", func(p *SystemPrompt) error { return p.Append("g", "\ntwo  \n") }, nil, "fixed|one\n\ntwo||now"},
		{"append to empty", func(p *SystemPrompt) error { return p.Append("e", "first") }, nil, "fixed|one|first|now"},
		{"append blank", func(p *SystemPrompt) error { return p.Append("g", " \n\t") }, nil, "fixed|one||now"},
		{"append to immutable", func(p *SystemPrompt) error { return p.Append("i", "x") }, ErrFixedSection, "fixed|one||now"},
		{"append to volatile", func(p *SystemPrompt) error { return p.Append("v", "") }, ErrFixedSection, "fixed|one||now"},
		{"append to nothing", func(p *SystemPrompt) error { return p.Append("x", "x") }, ErrNoSection, "fixed|one||now"},
		{"rewrite", func(p *SystemPrompt) error { return p.Rewrite("v", "later\r\n") }, nil, "fixed|one||later"},
		{"rewrite growing", func(p *SystemPrompt) error { return p.Rewrite("g", "x") }, ErrFixedSection, "fixed|one||now"},
		{"erase", func(p *SystemPrompt) error { return p.Erase("v") }, nil, "fixed|one|"},
		{"erase immutable", func(p *SystemPrompt) error { return p.Erase("i") }, ErrFixedSection, "fixed|one||now"},
		{"add twice", func(p *SystemPrompt) error { return p.Add(Section{Name: "v", Stability: Volatile}) }, ErrDuplicateSection, "fixed|one||now"},
		{"add lower", func(p *SystemPrompt) error { return p.Add(Section{Name: "n", Stability: Growing}) }, ErrStabilityOrder, "fixed|one||now"},
		{"add", func(p *SystemPrompt) error { return p.Add(Section{Name: "n", Stability: Volatile, Text: "\nn"}) }, nil, "fixed|one||now|n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := prompt(t, base...)
			before := p
			if err := c.edit(&p); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if got := texts(p); got != c.text {
				t.Errorf("sections %q, want %q", got, c.text)
			}
			if got := texts(before); got != "fixed|one||now" {
				t.Errorf("a shared prompt was written into: %q", got)
			}
		})
	}
	p := prompt(t, base...)
	if s, ok := p.Section("v"); !ok || s.Text != "now" {
		t.Errorf("section v: %+v", s)
	}
	if _, ok := p.Section("x"); ok {
		t.Error("there is no section x")
	}
}

func texts(p SystemPrompt) string {
	var out []string
	for _, s := range p.Sections {
		out = append(out, s.Text)
	}
	return strings.Join(out, "|")
}
