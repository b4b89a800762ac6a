package contextstat

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// HookName is the hook's name: in configuration, in logs and of its slot in the session.
const HookName = "context_statistic"

// SchemaDirVariable names the environment variable with the directory that is searched
// first for <hook name>/config.yaml.
const SchemaDirVariable = "SIMPLEX_LOOP_HOOK_SCHEMA_DIR"

// DefaultWindowTokens is the window size that config.yaml ships with.
const DefaultWindowTokens = 128000

//go:embed config.yaml
var shipped []byte

// Config is the `config` mapping of config.yaml.
type Config struct {
	WindowTokens uint64 // context_window_tokens, > 0
}

// Shipped is the config.yaml inside the program.
func Shipped() []byte { return append([]byte(nil), shipped...) }

// Source gives the hook's config.yaml and a name for errors:
// $SIMPLEX_LOOP_HOOK_SCHEMA_DIR/context_statistic/config.yaml (schemaDir is that
// variable's value, "" if unset), else <exeDir>/schemas/loop/context_statistic/config.yaml,
// else the shipped one. A file that is there but cannot be read is an error.
func Source(schemaDir, exeDir string) (name string, data []byte, err error) {
	var places []string
	if schemaDir != "" {
		places = append(places, filepath.Join(schemaDir, HookName, "config.yaml"))
	}
	if exeDir != "" {
		places = append(places, filepath.Join(exeDir, "schemas", "loop", HookName, "config.yaml"))
	}
	for _, place := range places {
		data, err := os.ReadFile(place)
		if err == nil {
			return place, data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return place, nil, fmt.Errorf("hook %s: configuration: %w", HookName, err)
		}
	}
	return "built-in " + HookName + "/config.yaml", Shipped(), nil
}
