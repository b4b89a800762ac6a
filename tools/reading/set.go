package reading

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"strconv"

	"simplex/state"
	"simplex/tools"
)

// builtin is schema/*.yaml as tools.Bundle renders it.
//
//go:embed schema/bundle.json
var builtin []byte

// Limits in bytes, as the contract has them.
const (
	defaultFile   = 16 << 20
	highestFile   = 1 << 30
	defaultOutput = 64 << 10
	highestOutput = 16 << 20
	defaultProbe  = 8 << 10
	highestProbe  = 1 << 20
)

// Config of a Set.
type Config struct {
	// ProbeBytes is how much of a file is looked at to tell whether it is text, in
	// bytes, from 1 to 1048576; 0 is 8192.
	ProbeBytes int
	// SchemaDir, if not empty, is where the declarations are read, instead of all
	// places of tools.Source.
	SchemaDir string
	// DecodeYAML reads a declaration from a directory; nil refuses directories.
	DecodeYAML func(name string, raw []byte) (state.Value, error)
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
	if cfg.ProbeBytes == 0 {
		cfg.ProbeBytes = defaultProbe
	}
	if cfg.ProbeBytes < 1 || cfg.ProbeBytes > highestProbe {
		return nil, errors.New("reading tools: the probe must have from 1 to 1048576 bytes")
	}
	s := &Set{}
	source := tools.Source{
		Set: s.Name(), Dir: cfg.SchemaDir, Builtin: builtin,
		DecodeYAML: cfg.DecodeYAML, Logger: cfg.Logger,
	}
	s.tools, s.skill = source.Build([]tools.Maker{{Name: "read_text", Make: func(d tools.Declaration) (tools.Tool, error) {
		limits, err := readLimits(d)
		if err != nil {
			return nil, err
		}
		limits.probe = cfg.ProbeBytes
		return &readText{decl: d, limits: limits}, nil
	}}})
	return s, nil
}

// limits of one tool, in bytes.
type limits struct {
	file   int64
	output int
	probe  int
}

// readLimits takes them from the declaration's config, which has no other keys.
func readLimits(d tools.Declaration) (limits, error) {
	l := limits{file: defaultFile, output: defaultOutput}
	for _, m := range d.Config.Members() {
		highest := int64(highestFile)
		switch m.Name {
		case "max_file_bytes":
		case "max_output_bytes":
			highest = highestOutput
		default:
			return l, d.ConfigError(m.Name, "is not known; known are max_file_bytes and max_output_bytes")
		}
		n, err := strconv.ParseInt(m.Value.String(), 10, 64)
		if err != nil || n < 1 || n > highest {
			return l, d.ConfigError(m.Name, "must be an integer from 1 to "+strconv.FormatInt(highest, 10))
		}
		if m.Name == "max_file_bytes" {
			l.file = n
		} else {
			l.output = int(n)
		}
	}
	return l, nil
}

// Name is "reading".
func (s *Set) Name() string { return "reading" }

// Tools lists what could be built.
func (s *Set) Tools() []tools.Tool { return s.tools }

// Skill is the text on reading files.
func (s *Set) Skill() *tools.Skill { return s.skill }

// Groups says that read_text stands alone.
func (s *Set) Groups() []tools.Group {
	return []tools.Group{{Name: s.Name(), Tools: []string{"read_text"}}}
}

// Shutdown has nothing to release.
func (s *Set) Shutdown(context.Context) error { return nil }
