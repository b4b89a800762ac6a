package prompt

import (
	"errors"
	"fmt"
	"strings"

	"simplex/state"
)

// Skill is what one toolset tells the model about its use.
type Skill struct{ Name, Title, Text string }

// Environment is what the prompt tells about the place the worker works in.
type Environment struct {
	Workspace string // absolute; "" for no hint
	Platform  string
	Software  []string // no empty entries
}

// Rebuild puts the system prompt of a starting session together (§5.3). source
// is the configured prompt, or with restored the session's saved one. Skills come in
// toolset order. Old copies of host sections are dropped; memory.runtime survives a
// restore as the last section. The result shares no section slice with source, and
// rebuilding it once more with the same arguments changes nothing. Errors: a heading
// level outside 1..6, an unnamed or repeated section.
func Rebuild(source state.SystemPrompt, skills []Skill, env Environment, signature string, restored bool) (state.SystemPrompt, error) {
	if source.HeadingLevel < 1 || source.HeadingLevel > 6 {
		return state.SystemPrompt{}, fmt.Errorf("system prompt: heading level %d is outside 1..6", source.HeadingLevel)
	}
	parts := userSections(source, false)
	for _, s := range skills {
		parts = append(parts, state.Section{Name: skillPrefix + s.Name, Title: s.Title, Stability: state.Growing, Text: s.Text})
	}
	parts = appendFilled(parts, state.Section{Name: SectionEnvironment, Title: "Runtime Environment", Stability: state.Volatile, Text: env.text()})
	parts = append(parts, userSections(source, true)...)
	parts = appendFilled(parts, state.Section{Name: SectionSignature, Stability: state.Volatile, Text: signature})
	if memory, ok := source.Section(SectionMemory); ok && restored {
		memory.Stability = state.Volatile // whatever it was saved as: it stands last
		parts = append(parts, memory)
	}
	out := source
	out.Sections = make([]state.Section, 0, len(parts))
	for _, s := range parts {
		if s.Name == "" || s.Name == skillPrefix {
			return state.SystemPrompt{}, errors.New("system prompt: a section has no name")
		}
		if err := out.Add(s); err != nil {
			return state.SystemPrompt{}, fmt.Errorf("system prompt: %w", err)
		}
	}
	return out, nil
}

// userSections lists the sections that are not the host's, the volatile or the others.
func userSections(source state.SystemPrompt, volatile bool) []state.Section {
	var out []state.Section
	for _, s := range source.Sections {
		if !hostSection(s.Name) && (s.Stability == state.Volatile) == volatile {
			out = append(out, s)
		}
	}
	return out
}

func appendFilled(sections []state.Section, s state.Section) []state.Section {
	if state.Canonical(s.Text) == "" {
		return sections
	}
	return append(sections, s)
}

// text is the body of environment.runtime; "" where there is nothing to tell.
func (e Environment) text() string {
	var parts []string
	if e.Workspace != "" {
		parts = append(parts, "Workspace: "+e.Workspace+"\nThis is where the work is expected to happen. It is a hint, not a restriction, and no tool has changed its working directory because of it.")
	}
	if e.Platform != "" {
		parts = append(parts, "Platform (configured): "+e.Platform)
	}
	if len(e.Software) > 0 {
		parts = append(parts, "Software (configured; availability not verified):\n- "+strings.Join(e.Software, "\n- "))
	}
	return strings.Join(parts, "\n\n")
}

// Signature is the text of signature.runtime: the version's greeting, the provider
// ("provider" where it has no name) and a good wish.
func Signature(version, provider string) string {
	if provider == "" {
		provider = "provider"
	}
	return fmt.Sprintf("Simplex %s is at your service, thinking with %s.\nMay the work go well.", version, provider)
}
