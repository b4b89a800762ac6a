package editing

import (
	"context"
	_ "embed"
	"log/slog"

	"simplex/state"
	"simplex/tools"
)

// builtin is schema/*.yaml as tools.Bundle renders it.
//
//go:embed schema/bundle.json
var builtin []byte

// Config of a Set; its zero value will do.
type Config struct {
	// SchemaDir, if not empty, is where the declarations are read, instead of all
	// places of tools.Source.
	SchemaDir string
	// DecodeYAML reads a declaration from a directory; nil refuses directories.
	DecodeYAML func(name string, raw []byte) (state.Value, error)
	// Hook is asked at each Point of an edit, on the edit's goroutine. An error takes
	// the place of the step. For tests; nil in production.
	Hook Hook
	// Logger may be nil.
	Logger *slog.Logger
}

// Set is the toolset. Its tool may be called from several goroutines at once; its edits
// are made one after the other, so that none of them is lost. Against other writers
// there is the check right before the rename, which cannot be one step with it.
type Set struct {
	tools []tools.Tool
	skill *tools.Skill
}

// New builds the set. A tool whose declaration is unusable is logged and left out.
func New(cfg Config) (*Set, error) {
	s := &Set{}
	source := tools.Source{
		Set: s.Name(), Dir: cfg.SchemaDir, Builtin: builtin,
		DecodeYAML: cfg.DecodeYAML, Logger: cfg.Logger,
	}
	s.tools, s.skill = source.Build([]tools.Maker{{Name: "str_replace_edit", Make: func(d tools.Declaration) (tools.Tool, error) {
		if err := d.RefuseConfig(); err != nil {
			return nil, err
		}
		return &strReplace{decl: d, hook: cfg.Hook}, nil
	}}})
	return s, nil
}

// Name is "editing".
func (s *Set) Name() string { return "editing" }

// Tools lists what could be built.
func (s *Set) Tools() []tools.Tool { return s.tools }

// Skill is the text on editing files.
func (s *Set) Skill() *tools.Skill { return s.skill }

// Groups says that str_replace_edit stands alone.
func (s *Set) Groups() []tools.Group {
	return []tools.Group{{Name: s.Name(), Tools: []string{"str_replace_edit"}}}
}

// Shutdown has nothing to release.
func (s *Set) Shutdown(context.Context) error { return nil }
