package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
)

// defaultWindowTokens is the shipped option of the context_statistic hook (§1.11).
const defaultWindowTokens = 128000

const hookDirVariable = "SIMPLEX_LOOP_HOOK_SCHEMA_DIR"

// HookConfig reads the `config.yaml` of an intrinsic loop hook: from the directory
// that SIMPLEX_LOOP_HOOK_SCHEMA_DIR names (then it must be there), else from
// `schemas/loop/<name>` beside the executable, else the built-in value. Only `name`,
// `description` and `config` are allowed in it, and in `config` only
// `context_window_tokens` (1..2147483647, default 128000).
func HookConfig(name string, env Env) (windowTokens uint64, err error) {
	if !plainName(name) {
		return 0, fmt.Errorf("loop hook: %q is no name", name)
	}
	root, override := env.lookup(hookDirVariable)
	override = override && root != ""
	if !override {
		if env.ExeDir == "" {
			return defaultWindowTokens, nil
		}
		root = filepath.Join(env.ExeDir, "schemas", "loop")
	}
	file := filepath.Join(root, name, "config.yaml")
	raw, err := ReadDocument(file)
	if errors.Is(err, fs.ErrNotExist) && !override {
		return defaultWindowTokens, nil
	}
	if err != nil {
		return 0, fmt.Errorf("loop hook %s: %w", name, err)
	}
	tree, err := ParseYAML(file, raw)
	if err != nil {
		return 0, err
	}
	return hookWindow(tree, name)
}

func hookWindow(tree *Tree, name string) (uint64, error) {
	c := &checker{tree: tree}
	c.closed(tree.Root, "", "name", "description", "config")
	if n := tree.Root.Get("name"); n != nil {
		c.text(n, &Key{Enum: []string{name}}, "/name")
	}
	if n := tree.Root.Get("description"); n != nil {
		c.text(n, &Key{}, "/description")
	}
	window := uint64(defaultWindowTokens)
	if config := tree.Root.Get("config"); config != nil && c.kind(config, KindMapping, "/config") {
		c.closed(config, "/config", "context_window_tokens")
		if n := config.Get("context_window_tokens"); n != nil {
			c.integer(n, &Key{Min: 1}, "/config/context_window_tokens")
			window, _ = strconv.ParseUint(n.Text, 10, 64)
		}
	}
	if len(c.errs) > 0 {
		return 0, c.errs.sorted()
	}
	return window, nil
}

// closed refuses the members of a mapping that are not allowed.
func (c *checker) closed(n *Node, path string, allowed ...string) {
	for _, m := range n.Members {
		if slices.Contains(allowed, m.Name) {
			continue
		}
		near := closest(m.Name, allowed)
		if near != "" {
			near = join(path, near)
		}
		c.fail(m.Line, join(path, m.Name), "%s", unknownKey(near))
	}
}
