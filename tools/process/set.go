package process

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	proc "simplex/process"
	"simplex/state"
	"simplex/tools"
)

// builtin is schema/*.yaml as tools.Bundle renders it.
//
//go:generate go test -run TestDeclarationsUpToDate -update .
//go:embed schema/bundle.json
var builtin []byte

// Config of a Set.
type Config struct {
	// Store holds the sessions; required. The set ends it at Shutdown.
	Store *proc.Store
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

// Set is the toolset. Its tools may be called at once.
type Set struct {
	store  *proc.Store
	now    func() time.Time
	logger *slog.Logger
	tools  []tools.Tool
	skill  *tools.Skill
}

// names of the tools, in catalogue order.
var names = []string{"spawn_process", "run_command", "poll_process", "read_process", "send_process"}

// New builds the set. Tools whose declaration is unusable are logged and left out; where
// the directory itself is wrong, that is logged once, and none is offered.
func New(cfg Config) (*Set, error) {
	if cfg.Store == nil {
		return nil, errors.New("process tools: a store is required")
	}
	s := &Set{store: cfg.Store, now: cfg.Now, logger: cfg.Logger}
	if s.now == nil {
		s.now = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	source := tools.Source{
		Set: s.Name(), Dir: cfg.SchemaDir, Builtin: builtin,
		DecodeYAML: cfg.DecodeYAML, Logger: s.logger,
	}
	if err := usable(source); err != nil {
		s.logger.Error("no process tool is offered: the directory of their declarations cannot be read", "variable", source.EnvName(), "error", err)
		return s, nil
	}
	s.tools, s.skill = source.Build(s.makers())
	return s, nil
}

// usable tells whether the directory that was named is one. Nothing is looked for instead
// (tools.md §1.3), and a declaration that cannot be had never ends the host.
func usable(source tools.Source) error {
	dir := source.Dir
	if dir == "" {
		dir = os.Getenv(source.EnvName())
	}
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	reason := "is not a directory"
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		reason = failed.Err.Error()
	} else if info.IsDir() {
		return nil
	}
	return &tools.DeclarationError{File: dir, Path: "/", Reason: reason}
}

func (s *Set) makers() []tools.Maker {
	prepare := []func(*tools.Arguments) (tools.Plan, error){
		s.spawnProcess, s.runCommand, s.pollProcess, s.readProcess, s.sendProcess,
	}
	var out []tools.Maker
	for i, name := range names {
		out = append(out, tools.Maker{Name: name, Make: func(d tools.Declaration) (tools.Tool, error) {
			if err := d.RefuseConfig(); err != nil {
				return nil, err
			}
			return &tool{decl: d, prepare: prepare[i]}, nil
		}})
	}
	return out
}

// Name is "process".
func (s *Set) Name() string { return "process" }

// Tools lists what could be built, in catalogue order.
func (s *Set) Tools() []tools.Tool { return s.tools }

// Skill is the text on running processes.
func (s *Set) Skill() *tools.Skill { return s.skill }

// Groups says that the five tools belong together.
func (s *Set) Groups() []tools.Group {
	return []tools.Group{{Name: s.Name(), Tools: names}}
}

// Shutdown ends every session and the store.
func (s *Set) Shutdown(ctx context.Context) error { return s.store.Shutdown(ctx) }

// tool is one of the five.
type tool struct {
	decl    tools.Declaration
	prepare func(*tools.Arguments) (tools.Plan, error)
}

func (t *tool) Declaration() tools.Declaration                 { return t.decl }
func (t *tool) Prepare(a *tools.Arguments) (tools.Plan, error) { return t.prepare(a) }
func (t *tool) Retired(argument string) (advice string, retired bool) {
	if t.decl.Name != "run_command" {
		return "", false
	}
	return retiredFromRun(argument)
}

// milliseconds makes a duration of an argument; what is too long for one is years.
func milliseconds(n uint64) time.Duration {
	const longest = uint64(10*365*24*time.Hour) / uint64(time.Millisecond)
	return time.Duration(min(n, longest)) * time.Millisecond
}
