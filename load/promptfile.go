package load

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"simplex/prompts"
	"simplex/state"
)

// Prompts are the prompt files of one configuration. Configured files and files of
// the installation have been read and checked; the ones that are byte for byte the
// shipped ones are parsed at first use.
type Prompts struct {
	System      *PromptFile
	Compact     *PromptFile
	AutoCompact *PromptFile // nil: the threshold is 0 and the key is absent
	Continue    *PromptFile
}

// PromptFile is one prompt, parsed once. Safe for concurrent use.
type PromptFile struct {
	File  string // path, or `embedded:` and the shipped name
	parse func() (state.SystemPrompt, error)
}

// Prompt gives the prompt; the caller must not change it in place.
func (p *PromptFile) Prompt() (state.SystemPrompt, error) { return p.parse() }

// Text gives the rendered prompt, as operations use it.
func (p *PromptFile) Text() (string, error) {
	prompt, err := p.parse()
	if err != nil {
		return "", err
	}
	return prompt.Render()
}

func promptFile(name string, raw []byte) *PromptFile {
	return &PromptFile{File: name, parse: sync.OnceValues(func() (state.SystemPrompt, error) { return ParsePrompt(name, raw) })}
}

func (b *builder) prompts(s section, autoCompact bool) Prompts {
	p := Prompts{
		System:   b.prompt(s, "system_prompt_file", false),
		Compact:  b.prompt(s, "compact_prompt_file", true),
		Continue: b.prompt(s, "auto_compact_continue_prompt_file", true),
	}
	if autoCompact || s.has("auto_compact_prompt_file") {
		p.AutoCompact = b.prompt(s, "auto_compact_prompt_file", true)
	}
	return p
}

// prompt opens one prompt file. nonBlank is the rule of the operations' prompts.
func (b *builder) prompt(s section, name string, nonBlank bool) *PromptFile {
	rel := s.text(name)
	file := filepath.Join(b.opt.Env.ExeDir, filepath.FromSlash(rel))
	shipped := prompts.Shipped(strings.TrimPrefix(key(s.pattern+"/"+name).Default, "prompts/"))
	raw, err := b.promptBytes(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.has(name):
		return promptFile("embedded:"+rel, shipped)
	case err != nil:
		b.fail(s.line(name), s.path+"/"+name, "%s", reason(err))
		return nil
	case bytes.Equal(raw, shipped):
		return promptFile(file, raw)
	}
	p := promptFile(file, raw)
	if err := p.check(nonBlank); err != nil {
		b.promptErrors(err)
	}
	return p
}

// promptBytes reads a prompt of the installation; without one there is none.
func (b *builder) promptBytes(file string) ([]byte, error) {
	if b.opt.Env.ExeDir == "" {
		return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	return ReadDocument(file)
}

func (p *PromptFile) check(nonBlank bool) error {
	text, err := p.Text()
	if err != nil {
		return err
	}
	if nonBlank && strings.TrimSpace(text) == "" {
		return &Error{File: p.File, Message: "the prompt must not be blank"}
	}
	return nil
}

// promptErrors takes over the errors of a prompt file, which name that file.
func (b *builder) promptErrors(err error) {
	var many Errors
	var one *Error
	switch {
	case errors.As(err, &many):
		b.errs = append(b.errs, many...)
	case errors.As(err, &one):
		b.errs = append(b.errs, one)
	default:
		b.errs = append(b.errs, &Error{File: b.tree.Name, Message: err.Error()})
	}
}
