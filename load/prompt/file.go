package prompt

import (
	"strings"
	"sync"

	"simplex/load/document"
	"simplex/state"
)

// File is one prompt file, parsed once. Safe for concurrent use.
type File struct {
	Name  string // path, or `embedded:` and the shipped name
	parse func() (state.SystemPrompt, error)
}

// Prompt gives the prompt; the caller must not change it in place.
func (p *File) Prompt() (state.SystemPrompt, error) { return p.parse() }

// Text gives the rendered prompt, as operations use it.
func (p *File) Text() (string, error) {
	prompt, err := p.parse()
	if err != nil {
		return "", err
	}
	return prompt.Render()
}

// NewFile makes a prompt file of its text, which is parsed at first use.
func NewFile(name string, raw []byte) *File {
	return &File{Name: name, parse: sync.OnceValues(func() (state.SystemPrompt, error) { return Parse(name, raw) })}
}

// Check parses and renders the prompt. nonBlank is the rule of the operations' prompts:
// the text must not be blank.
func (p *File) Check(nonBlank bool) error {
	text, err := p.Text()
	if err != nil {
		return err
	}
	if nonBlank && strings.TrimSpace(text) == "" {
		return &document.Error{File: p.Name, Message: "the prompt must not be blank"}
	}
	return nil
}
