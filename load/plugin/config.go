package plugin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"simplex/load"
	"simplex/load/document"
	"simplex/load/schema"
	"simplex/state"
)

const (
	toolSchemaVariable = "SIMPLEX_TOOL_EXTENSION_SCHEMA_DIR"
	hookSchemaVariable = "SIMPLEX_LOOP_EXTENSION_SCHEMA_DIR"
)

// toolConfig is the `config` of a toolset: from schema_directory, else from the
// directory that the environment names, else from beside the executable if it is there.
func toolConfig(e load.EnabledTool, env load.Env) (state.Object, error) {
	if e.SchemaDirectory != "" {
		return pluginConfig(filepath.Join(e.SchemaDirectory, "config.yaml"), e.Name, true)
	}
	return placedConfig(e.Name, env, toolSchemaVariable, "tools")
}

func hookConfig(e load.EnabledHook, env load.Env) (state.Object, error) {
	if e.ConfigFile != "" {
		return pluginConfig(e.ConfigFile, e.Name, true)
	}
	return placedConfig(e.Name, env, hookSchemaVariable, "loop")
}

func placedConfig(name string, env load.Env, variable, set string) (state.Object, error) {
	if root, ok := env.Lookup(variable); ok && root != "" {
		config, err := pluginConfig(filepath.Join(root, name, "config.yaml"), name, true)
		if failed, bare := err.(*fs.PathError); bare {
			return config, &document.Error{File: failed.Path, Message: failed.Err.Error() + "; " + variable + " says that it is there", Err: err}
		}
		return config, err
	}
	if env.ExeDir == "" {
		return state.EmptyObject(), nil
	}
	return pluginConfig(filepath.Join(env.ExeDir, "schemas", set, "extensions", name, "config.yaml"), name, false)
}

// pluginConfig reads a plugin's config.yaml, in which the name is required.
func pluginConfig(file, name string, must bool) (state.Object, error) {
	if !must {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return state.EmptyObject(), nil
		}
	}
	tree, err := readPluginFile(file)
	if err != nil {
		return state.Object{}, err
	}
	c := &schema.Checker{Tree: tree}
	if tree.Root.Get("name") == nil {
		c.Fail(0, "/name", "is required")
	}
	config := state.EmptyObject()
	if n := componentConfig(c, name); n != nil {
		config, _ = n.JSON().Object()
	}
	if err := c.Err(); err != nil {
		return state.Object{}, err
	}
	return config, nil
}

// componentConfig checks what every config.yaml of a component has, name, description and
// config and no more, and gives the config; nil where there is none that could be read.
func componentConfig(c *schema.Checker, name string) *document.Node {
	root := c.Tree.Root
	c.Closed(root, "", "name", "description", "config")
	if n := root.Get("name"); n != nil {
		c.Text(n, &schema.Key{Enum: []string{name}}, "/name")
	}
	if n := root.Get("description"); n != nil {
		c.Text(n, &schema.Key{}, "/description")
	}
	if n := root.Get("config"); n != nil && c.Kind(n, document.KindMapping, "/config") {
		return n
	}
	return nil
}
