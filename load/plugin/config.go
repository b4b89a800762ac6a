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

// pluginConfig reads a plugin's config.yaml: name, description and config, no more.
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
	c.Closed(tree.Root, "", "name", "description", "config")
	if n := tree.Root.Get("name"); n != nil {
		c.Text(n, &schema.Key{Enum: []string{name}}, "/name")
	} else {
		c.Fail(0, "/name", "is required")
	}
	if n := tree.Root.Get("description"); n != nil {
		c.Text(n, &schema.Key{}, "/description")
	}
	config := state.EmptyObject()
	if n := tree.Root.Get("config"); n != nil && c.Kind(n, document.KindMapping, "/config") {
		config, _ = n.JSON().Object()
	}
	if err := c.Err(); err != nil {
		return state.Object{}, err
	}
	return config, nil
}
