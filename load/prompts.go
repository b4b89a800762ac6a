package load

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"simplex/load/document"
	"simplex/load/prompt"
	"simplex/prompts"
)

// Prompts are the prompt files of one configuration. Configured files and files of
// the installation have been read and checked; the ones that are byte for byte the
// shipped ones are parsed at first use.
type Prompts struct {
	System      *prompt.File
	Compact     *prompt.File
	AutoCompact *prompt.File // nil: the threshold is 0 and the key is absent
	Continue    *prompt.File
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
func (b *builder) prompt(s section, name string, nonBlank bool) *prompt.File {
	rel := s.text(name)
	file := filepath.Join(b.opt.Env.ExeDir, filepath.FromSlash(rel))
	shipped := prompts.Shipped(strings.TrimPrefix(key(s.pattern+"/"+name).Default, "prompts/"))
	raw, err := b.promptBytes(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.has(name):
		return prompt.NewFile("embedded:"+rel, shipped)
	case err != nil:
		b.Fail(s.line(name), s.path+"/"+name, "%s", document.Reason(err))
		return nil
	case bytes.Equal(raw, shipped):
		return prompt.NewFile(file, raw)
	}
	p := prompt.NewFile(file, raw)
	if err := p.Check(nonBlank); err != nil {
		b.promptErrors(err)
	}
	return p
}

// promptBytes reads a prompt of the installation; without one there is none.
func (b *builder) promptBytes(file string) ([]byte, error) {
	if b.opt.Env.ExeDir == "" {
		return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	return document.Read(file)
}

// promptErrors takes over the errors of a prompt file, which name that file.
func (b *builder) promptErrors(err error) {
	var many document.Errors
	var one *document.Error
	switch {
	case errors.As(err, &many):
		b.Errs = append(b.Errs, many...)
	case errors.As(err, &one):
		b.Errs = append(b.Errs, one)
	default:
		b.Errs = append(b.Errs, &document.Error{File: b.Tree.Name, Message: err.Error()})
	}
}
