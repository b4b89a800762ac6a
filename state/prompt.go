package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why an edit of the system prompt is refused (worker-data.md §1.5).
var (
	ErrDuplicateSection = errors.New("duplicate section name")
	ErrStabilityOrder   = errors.New("stability is lower than that of the section before")
	ErrNoSection        = errors.New("no such prompt section")
	ErrFixedSection     = errors.New("the section's stability does not allow this edit")
	ErrHeadingLevel     = errors.New("heading_level is not in 1..6")
)

const defaultHeadingLevel = 2

// Canonical is the form of a section's text: no blanks (space, tab, CR) at line ends, no
// blank lines at the start and end. It is idempotent.
func Canonical(text string) string {
	if isCanonical(text) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

func isCanonical(text string) bool {
	if text == "" {
		return true
	}
	if text[0] == '\n' || text[len(text)-1] == '\n' {
		return false
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '\n')
		end := i
		if i < 0 {
			end = len(rest)
		}
		if end > 0 && (rest[end-1] == ' ' || rest[end-1] == '\t' || rest[end-1] == '\r') {
			return false
		}
		if i < 0 {
			return true
		}
		rest = rest[i+1:]
	}
}

func (s SectionStability) rank() int {
	switch s {
	case Growing:
		return 1
	case Volatile:
		return 2
	}
	return 0
}

func (p *SystemPrompt) index(name string) int {
	return slices.IndexFunc(p.Sections, func(s Section) bool { return s.Name == name })
}

// Section gives the section of that name.
func (p SystemPrompt) Section(name string) (Section, bool) {
	if i := p.index(name); i >= 0 {
		return p.Sections[i], true
	}
	return Section{}, false
}

// Add puts a section at the end. Its name must be new and its stability not lower than
// that of the section before; its text is made canonical.
func (p *SystemPrompt) Add(sec Section) error {
	if p.index(sec.Name) >= 0 {
		return fmt.Errorf("%w: %q", ErrDuplicateSection, sec.Name)
	}
	if n := len(p.Sections); n > 0 && sec.Stability.rank() < p.Sections[n-1].Stability.rank() {
		return fmt.Errorf("section %q is %s after %s: %w", sec.Name, sec.Stability, p.Sections[n-1].Stability, ErrStabilityOrder)
	}
	sec.Text = Canonical(sec.Text)
	p.Sections = append(slices.Clip(p.Sections), sec)
	return nil
}

// Append adds text to a growing section after one blank line. Blank text changes nothing.
func (p *SystemPrompt) Append(name, text string) error {
	i, err := p.editable(name, Growing)
	if err != nil {
		return err
	}
	text = Canonical(text)
	if text == "" {
		return nil
	}
	if old := p.Sections[i].Text; old != "" {
		text = old + "\n\n" + text
	}
	p.setText(i, text)
	return nil
}

// Rewrite replaces the text of a volatile section.
func (p *SystemPrompt) Rewrite(name, text string) error {
	i, err := p.editable(name, Volatile)
	if err != nil {
		return err
	}
	p.setText(i, Canonical(text))
	return nil
}

// Erase removes a volatile section.
func (p *SystemPrompt) Erase(name string) error {
	i, err := p.editable(name, Volatile)
	if err != nil {
		return err
	}
	p.Sections = slices.Delete(slices.Clone(p.Sections), i, i+1)
	return nil
}

func (p *SystemPrompt) editable(name string, want SectionStability) (int, error) {
	i := p.index(name)
	if i < 0 {
		return 0, fmt.Errorf("%w: %q", ErrNoSection, name)
	}
	if have := p.Sections[i].Stability; have != want {
		return 0, fmt.Errorf("section %q is %s, not %s: %w", name, have, want, ErrFixedSection)
	}
	return i, nil
}

func (p *SystemPrompt) setText(i int, text string) {
	p.Sections = slices.Clone(p.Sections)
	p.Sections[i].Text = Canonical(text)
}

// Render gives the prompt as the model gets it (worker-data.md §5.2): sections joined by
// one blank line, one newline at the end, "" when there is nothing. A section without a
// body contributes nothing, titled or not.
func (p SystemPrompt) Render() (string, error) {
	if p.HeadingLevel < 1 || p.HeadingLevel > 6 {
		return "", fmt.Errorf("%w: %d", ErrHeadingLevel, p.HeadingLevel)
	}
	var out strings.Builder
	for _, sec := range p.Sections {
		body := Canonical(sec.Text)
		if body == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		if sec.Title != "" {
			out.WriteString("######"[:p.HeadingLevel] + " " + sec.Title + "\n\n")
		}
		out.WriteString(body)
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	return out.String(), nil
}
