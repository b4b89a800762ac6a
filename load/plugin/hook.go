package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"simplex/load"
	"simplex/load/document"
	"simplex/load/schema"
)

// defaultWindowTokens is the shipped option of the context_statistic hook (§1.11).
const defaultWindowTokens = 128000

const hookDirVariable = "SIMPLEX_LOOP_HOOK_SCHEMA_DIR"

// IntrinsicHook reads the `config.yaml` of an intrinsic loop hook: from the directory
// that SIMPLEX_LOOP_HOOK_SCHEMA_DIR names (then it must be there), else from
// `schemas/loop/<name>` beside the executable, else the built-in value. Only `name`,
// `description` and `config` are allowed in it, and in `config` only
// `context_window_tokens` (1..2147483647, default 128000).
func IntrinsicHook(name string, env load.Env) (windowTokens uint64, err error) {
	if !schema.IsName(name) {
		return 0, fmt.Errorf("loop hook: %q is no name", name)
	}
	root, override := env.Lookup(hookDirVariable)
	override = override && root != ""
	if !override {
		if env.ExeDir == "" {
			return defaultWindowTokens, nil
		}
		root = filepath.Join(env.ExeDir, "schemas", "loop")
	}
	file := filepath.Join(root, name, "config.yaml")
	raw, err := document.Read(file)
	if errors.Is(err, fs.ErrNotExist) && !override {
		return defaultWindowTokens, nil
	}
	if err != nil {
		return 0, fmt.Errorf("loop hook %s: %w", name, err)
	}
	tree, err := document.ParseYAML(file, raw)
	if err != nil {
		return 0, err
	}
	return hookWindow(tree, name)
}

func hookWindow(tree *document.Tree, name string) (uint64, error) {
	c := &schema.Checker{Tree: tree}
	window := uint64(defaultWindowTokens)
	if config := componentConfig(c, name); config != nil {
		c.Closed(config, "/config", "context_window_tokens")
		if n := config.Get("context_window_tokens"); n != nil {
			c.Integer(n, &schema.Key{Min: 1}, "/config/context_window_tokens")
			window, _ = strconv.ParseUint(n.Text, 10, 64)
		}
	}
	if err := c.Err(); err != nil {
		return 0, err
	}
	return window, nil
}
