package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/state"
)

func section1(name, title string, stability state.SectionStability, text string) state.Section {
	return state.Section{Name: name, Title: title, Stability: stability, Text: text}
}

// TestRebuild is the order of §5.3 for a new and a restored session.
func TestRebuild(t *testing.T) {
	t.Parallel()
	source := state.SystemPrompt{HeadingLevel: 3, Sections: []state.Section{
		section1("persona", "Role", state.Immutable, "Be brief."),
		section1("notes", "", state.Growing, "n"),
		section1("skill.old", "Old", state.Growing, "gone"),
		section1("skill.process", "Old", state.Growing, "old text"),
		section1("environment.runtime", "Runtime Environment", state.Volatile, "old"),
		section1("today", "", state.Volatile, "Tuesday"),
		section1("signature.runtime", "", state.Volatile, "old"),
		section1("memory.runtime", "Memory", state.Volatile, "what was"),
	}}
	before := slices.Clone(source.Sections)
	skills := []Skill{{"process", "Processes", "run  \n"}, {"reading", "Reading", "read"}}
	env := Environment{Workspace: "/srv/demo", Platform: "Debian", Software: []string{"git", "go"}}
	got, err := Rebuild(source, skills, env, Signature("1.2.3", ""), true)
	if err != nil {
		t.Fatal(err)
	}
	want := state.SystemPrompt{HeadingLevel: 3, Sections: []state.Section{
		section1("persona", "Role", state.Immutable, "Be brief."),
		section1("notes", "", state.Growing, "n"),
		section1("skill.process", "Processes", state.Growing, "run"),
		section1("skill.reading", "Reading", state.Growing, "read"),
		section1("environment.runtime", "Runtime Environment", state.Volatile, "Workspace: /srv/demo\nThis is where the work is expected to happen. It is a hint, not a restriction, and no tool has changed its working directory because of it.\n\n"+
			"Platform (configured): Debian\n\nSoftware (configured; availability not verified):\n- git\n- go"),
		section1("today", "", state.Volatile, "Tuesday"),
		section1("signature.runtime", "", state.Volatile, "Simplex 1.2.3 is at your service, thinking with provider.\nMay the work go well."),
		section1("memory.runtime", "Memory", state.Volatile, "what was"),
	}}
	opt := cmp.AllowUnexported(state.Value{})
	if d := cmp.Diff(want, got, opt); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, source.Sections, opt); d != "" {
		t.Errorf("the source was changed: %s", d)
	}
	fresh, err := Rebuild(source, nil, Environment{}, "", false)
	if err != nil || cmp.Diff([]state.Section{source.Sections[0], source.Sections[1], source.Sections[5]}, fresh.Sections, opt) != "" {
		t.Errorf("new session: %+v, %v", fresh.Sections, err)
	}
	for name, bad := range map[string]func() (state.SystemPrompt, error){
		"level": func() (state.SystemPrompt, error) { return Rebuild(state.SystemPrompt{}, nil, env, "", false) },
		"twice": func() (state.SystemPrompt, error) {
			return Rebuild(source, append(skills, skills[0]), env, "", false)
		},
		"noname": func() (state.SystemPrompt, error) { return Rebuild(source, []Skill{{}}, env, "", false) },
	} {
		if _, err := bad(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestRebuildProperties: a rebuild is idempotent, keeps the user's sections in order,
// keeps the tiers in order, gives the same bytes for the same input, and always loads
// again as a saved session.
func TestRebuildProperties(t *testing.T) {
	t.Parallel()
	tiers := []state.SectionStability{state.Immutable, state.Growing, state.Volatile}
	words := rapid.SampledFrom([]string{"", "x", "a\n\nb", "  y  ", "é"})
	rapid.Check(t, func(t *rapid.T) {
		source := state.SystemPrompt{HeadingLevel: rapid.IntRange(1, 6).Draw(t, "level")}
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "skill.p", "skill.z", SectionEnvironment, SectionSignature, SectionMemory}), func(s string) string { return s }).Draw(t, "names")
		tier := 0
		var user []string
		for _, name := range names {
			tier = rapid.IntRange(tier, 2).Draw(t, "tier")
			if err := source.Add(section1(name, words.Draw(t, "title"), tiers[tier], words.Draw(t, "text"))); err != nil {
				t.Fatal(err)
			}
			if !hostSection(name) {
				user = append(user, name)
			}
		}
		var skills []Skill
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), func(s string) string { return s }).Draw(t, "skills") {
			skills = append(skills, Skill{name, words.Draw(t, "title"), words.Draw(t, "text")})
		}
		env := Environment{Workspace: words.Draw(t, "workspace"), Platform: words.Draw(t, "platform"), Software: rapid.SliceOf(rapid.SampledFrom([]string{"git", "go"})).Draw(t, "software")}
		signature, restored := words.Draw(t, "signature"), rapid.Bool().Draw(t, "restored")

		once, err := Rebuild(source, skills, env, signature, restored)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Rebuild(once, skills, env, signature, restored)
		if err != nil || cmp.Diff(once, twice, cmp.AllowUnexported(state.Value{})) != "" {
			t.Fatalf("not idempotent: %v\n%+v\n%+v", err, once, twice)
		}
		var kept []string
		var check state.SystemPrompt
		for _, s := range once.Sections {
			if err := check.Add(s); err != nil {
				t.Fatal(err)
			}
			if !hostSection(s.Name) {
				kept = append(kept, s.Name)
			}
		}
		if !slices.Equal(user, kept) {
			t.Fatalf("user sections %v became %v", user, kept)
		}
		_, had := source.Section(SectionMemory)
		last := len(once.Sections) - 1
		if has := last >= 0 && once.Sections[last].Name == SectionMemory; has != (had && restored) {
			t.Fatalf("memory: had %v, restored %v, last %v", had, restored, has)
		}
		text, err := once.Render()
		if again, _ := twice.Render(); err != nil || again != text {
			t.Fatalf("render: %v", err)
		}
		if signature != "" && !strings.Contains(text, state.Canonical(signature)) {
			t.Fatalf("no signature in %q", text)
		}
	})
}
