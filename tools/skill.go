package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"simplex/state"
)

// Skill is a set's text for the system prompt (§1.10). It becomes the section
// skill.<Name> with Title as heading.
type Skill struct {
	Name        string
	Title       string
	Description string
	Keywords    []string
	// Text is canonical: no white space at line ends, no blank lines around.
	Text string
}

// DecodeSkill reads a skill out of one decoded document. Errors are
// *DeclarationError.
func DecodeSkill(file string, doc state.Value) (*Skill, error) {
	at := func(path, reason string) error { return &DeclarationError{file, path, reason} }
	o, err := doc.Object()
	if err != nil {
		return nil, at("/", "must be a mapping")
	}
	s := &Skill{}
	for _, m := range o.Members() {
		into := map[string]*string{
			"name": &s.Name, "title": &s.Title, "description": &s.Description, "text": &s.Text,
		}[m.Name]
		switch {
		case m.Name == "keywords":
			if s.Keywords, err = keywords(m.Value); err != nil {
				return nil, at("/keywords", err.Error())
			}
		case into == nil:
			return nil, at("/"+m.Name, "is not a member of a skill")
		default:
			text, ok := m.Value.Text()
			if !ok {
				return nil, at("/"+m.Name, "must be a string")
			}
			*into = strings.TrimSpace(text)
		}
	}
	s.Text = state.Canonical(s.Text)
	if s.Name == "" {
		return nil, at("/name", "is required and must not be empty")
	}
	if s.Text == "" {
		return nil, at("/text", "is required and must not be empty")
	}
	return s, nil
}

func keywords(v state.Value) ([]string, error) {
	items, ok := v.Items()
	if !ok {
		return nil, errors.New("must be a list of strings")
	}
	var out []string
	for i, item := range items {
		text, ok := item.Text()
		word := strings.TrimSpace(text)
		if !ok || word == "" {
			return nil, fmt.Errorf("element %d must be a nonempty string", i)
		}
		if slices.Contains(out, word) {
			return nil, fmt.Errorf("element %d repeats %q", i, word)
		}
		out = append(out, word)
	}
	return out, nil
}
