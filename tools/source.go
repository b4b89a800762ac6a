package tools

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"simplex/state"
)

// Source says where the declarations of one set are found (§1.3): the directory of
// the environment variable, and then nothing else; or schemas/<set> beside the
// executable, if that is a directory; or the copy built into the program.
type Source struct {
	// Set is the set's name.
	Set string
	// Dir, if not empty, is the directory to read, before and instead of all others.
	Dir string
	// Builtin is the JSON that Bundle made of the set's own schema directory.
	Builtin []byte
	// DecodeYAML reads one document. It is called only for a directory; nil makes
	// every file of one an error.
	DecodeYAML func(name string, raw []byte) (state.Value, error)
	// Getenv and Executable are os.Getenv and os.Executable when nil.
	Getenv     func(string) string
	Executable func() (string, error)
	// Logger gets what could not be read; nil discards.
	Logger *slog.Logger
}

// EnvName is the variable that names the set's schema directory.
func (s Source) EnvName() string {
	return "SIMPLEX_" + strings.ToUpper(s.Set) + "_SCHEMA_DIR"
}

// Maker builds one tool from its declaration. It may refuse, for its config's sake.
type Maker struct {
	Name string // of the tool; its file is <Name>.yaml
	Make func(Declaration) (Tool, error)
}

// Build reads the declarations and makes the tools, in the order of the makers. A
// tool that cannot be had is logged and left out, and so is a skill: neither is
// fatal to the host.
func (s Source) Build(makers []Maker) ([]Tool, *Skill) {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	lookup, skill := s.open()
	var built []Tool
	seen := map[string]bool{}
	for _, m := range makers {
		d, err := lookup(m.Name)
		if err != nil {
			s.Logger.Error("tool declaration unusable", "set", s.Set, "tool", m.Name, "error", err)
			continue
		}
		if seen[d.Name] {
			s.Logger.Warn("tool declared twice", "set", s.Set, "tool", d.Name)
			continue
		}
		t, err := m.Make(d)
		if err != nil {
			s.Logger.Error("tool not built", "set", s.Set, "tool", m.Name, "error", err)
			continue
		}
		if t == nil {
			s.Logger.Warn("tool not built", "set", s.Set, "tool", m.Name)
			continue
		}
		seen[d.Name] = true
		built = append(built, t)
	}
	sk, err := skill()
	if err != nil {
		s.Logger.Error("skill unusable", "set", s.Set, "error", err)
	}
	return built, sk
}

// open picks the place and gives readers for it.
func (s Source) open() (lookup func(tool string) (Declaration, error), skill func() (*Skill, error)) {
	dir := s.directory()
	if dir == "" {
		return s.openBuiltin()
	}
	lookup = func(tool string) (Declaration, error) {
		file := filepath.Join(dir, tool+".yaml")
		doc, err := s.readYAML(file)
		if err != nil {
			return Declaration{}, err
		}
		return DecodeDeclaration(file, doc)
	}
	skill = func() (*Skill, error) {
		file := filepath.Join(dir, "skill.yaml")
		doc, err := s.readYAML(file)
		if err != nil {
			return nil, err
		}
		return DecodeSkill(file, doc)
	}
	return lookup, skill
}

// directory is where YAML is to be read, "" for the built-in copy.
func (s Source) directory() string {
	if s.Dir != "" {
		return s.Dir
	}
	getenv, executable := s.Getenv, s.Executable
	if getenv == nil {
		getenv = os.Getenv
	}
	if executable == nil {
		executable = os.Executable
	}
	if dir := getenv(s.EnvName()); dir != "" {
		return dir
	}
	exe, err := executable()
	if err != nil {
		return ""
	}
	dir := filepath.Join(filepath.Dir(exe), "schemas", s.Set)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

func (s Source) readYAML(file string) (state.Value, error) {
	at := func(err error) error { return &DeclarationError{file, "/", err.Error()} }
	raw, err := os.ReadFile(file)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return state.Value{}, at(err)
	}
	if s.DecodeYAML == nil {
		return state.Value{}, at(errors.New("there is no YAML reader"))
	}
	doc, err := s.DecodeYAML(file, raw)
	if err != nil {
		return state.Value{}, at(err)
	}
	return doc, nil
}

// bundle is the JSON form of a schema directory.
type bundle struct {
	Tools map[string]state.Value `json:"tools"`
	Skill state.Value            `json:"skill"`
}

// openBuiltin trusts the content: Bundle checked it when the program was built.
func (s Source) openBuiltin() (lookup func(tool string) (Declaration, error), skill func() (*Skill, error)) {
	var b bundle
	broken := json.Unmarshal(s.Builtin, &b)
	if broken != nil {
		broken = fmt.Errorf("built-in declarations of %s: %w", s.Set, broken)
	}
	lookup = func(tool string) (Declaration, error) {
		if broken != nil {
			return Declaration{}, broken
		}
		return readDeclaration(tool+".yaml", b.Tools[tool])
	}
	skill = func() (*Skill, error) {
		if broken != nil {
			return nil, broken
		}
		return DecodeSkill("skill.yaml", b.Skill)
	}
	return lookup, skill
}

// Bundle checks the schema directory of a set and gives it as the JSON to build
// into the program. Host-side documentation in the files is left out.
func Bundle(files fs.FS, decodeYAML func(name string, raw []byte) (state.Value, error)) ([]byte, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	b := bundle{Tools: map[string]state.Value{}}
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		doc, err := decodeYAML(name, raw)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if name == "skill.yaml" {
			if _, err := DecodeSkill(name, doc); err != nil {
				return nil, err
			}
			b.Skill = doc
			continue
		}
		d, err := DecodeExtensionTool(name, doc)
		if err != nil {
			return nil, err
		}
		b.Tools[d.Name] = state.ObjectFrom([]state.Member{
			{Name: "name", Value: state.StringValue(d.Name)},
			{Name: "description", Value: state.StringValue(d.Description)},
			{Name: "argument_schema", Value: d.Schema.Value},
			{Name: "config", Value: d.Config.Value},
		}).Value
	}
	return json.Marshal(b, json.Deterministic(true))
}
