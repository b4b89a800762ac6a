package modality

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"time"

	"simplex/state"
	"simplex/tools"
)

// builtin is schema/*.yaml as tools.Bundle renders it.
//
//go:embed schema/bundle.json
var builtin []byte

// Model answers one conversation. It does its own retries.
type Model interface {
	Exchange(ctx context.Context, conversation *state.State) (*state.Message, error)
}

// Config of a Set.
type Config struct {
	// Model is asked; required. It must allow several exchanges at once.
	Model Model
	// SchemaDir, if not empty, is where the declarations are read, instead of all
	// places of tools.Source.
	SchemaDir string
	// DecodeYAML reads a declaration from a directory; nil refuses directories.
	DecodeYAML func(name string, raw []byte) (state.Value, error)
	// Now is time.Now when nil.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
}

// Set is the toolset. Its tool may be called from several goroutines at once.
type Set struct {
	tools []tools.Tool
	skill *tools.Skill
}

// New builds the set. A tool whose declaration is unusable is logged and left out.
func New(cfg Config) (*Set, error) {
	if cfg.Model == nil {
		return nil, errors.New("modality tools: a model is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Set{}
	source := tools.Source{
		Set: s.Name(), Dir: cfg.SchemaDir, Builtin: builtin,
		DecodeYAML: cfg.DecodeYAML, Logger: cfg.Logger,
	}
	s.tools, s.skill = source.Build([]tools.Maker{{Name: "modality_assist", Make: func(d tools.Declaration) (tools.Tool, error) {
		if err := d.RefuseConfig(); err != nil {
			return nil, err
		}
		prompt, err := defaultPrompt(d)
		if err != nil {
			return nil, err
		}
		return &assist{decl: d, prompt: prompt, model: cfg.Model, now: cfg.Now}, nil
	}}})
	return s, nil
}

// defaultPrompt takes the default of system_prompt from the declaration, so that the
// text stands in one place.
func defaultPrompt(d tools.Declaration) (string, error) {
	at := d.Schema.Value
	for _, name := range []string{"properties", "system_prompt", "default"} {
		o, err := at.Object()
		if err != nil {
			break
		}
		at, _ = o.Get(name)
	}
	prompt, ok := at.Text()
	if !ok || prompt == "" {
		return "", &tools.DeclarationError{
			File: d.File, Path: "/argument_schema/properties/system_prompt/default",
			Reason: "must be a nonempty string",
		}
	}
	return prompt, nil
}

// Name is "modality_assist".
func (s *Set) Name() string { return "modality_assist" }

// Tools lists what could be built.
func (s *Set) Tools() []tools.Tool { return s.tools }

// Skill is the text on asking about images.
func (s *Set) Skill() *tools.Skill { return s.skill }

// Groups says that modality_assist stands alone.
func (s *Set) Groups() []tools.Group {
	return []tools.Group{{Name: s.Name(), Tools: []string{"modality_assist"}}}
}

// Shutdown has nothing to release: the model is its owner's.
func (s *Set) Shutdown(context.Context) error { return nil }
