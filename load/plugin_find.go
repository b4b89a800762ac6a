package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"simplex/state"
)

// descriptorFile is the name of every descriptor; it stands in a directory named like
// the plugin, directly below one of the configured directories.
const descriptorFile = "plugin.yaml"

// maxDescriptor is the largest descriptor and plugin configuration, in bytes.
const maxDescriptor = 1 << 20

// category is one list of plugins in the configuration.
type category struct{ key, kind string }

func (c category) path(index int) string {
	return fmt.Sprintf("/plugins/extensions/%s/enable/%d", c.key, index)
}

// MissingPluginError tells of an enabled plugin that is in none of the directories.
type MissingPluginError struct {
	Name        string
	Directories []string
	Found       []string // names of those that are there
}

func (e *MissingPluginError) Error() string {
	found := "nothing"
	if len(e.Found) > 0 {
		found = strings.Join(e.Found, ", ")
	}
	return fmt.Sprintf("there is no plugin %q: no %s/%s in %s; found: %s",
		e.Name, e.Name, descriptorFile, strings.Join(e.Directories, ", "), found)
}

// openDescriptor finds the descriptor of an enabled plugin and reads what both kinds
// have in common.
func openDescriptor(dirs []string, c category, name string) (*descriptor, error) {
	var files []string
	for _, dir := range dirs {
		file := filepath.Join(dir, name, descriptorFile)
		if _, err := os.Stat(file); err == nil {
			files = append(files, file)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	switch len(files) {
	case 0:
		found, err := discover(dirs)
		if err != nil {
			return nil, err
		}
		return nil, &MissingPluginError{name, dirs, found}
	case 1:
	default:
		return nil, fmt.Errorf("plugin %q is there more than once: %s", name, strings.Join(files, ", "))
	}
	tree, err := readPluginFile(files[0])
	if err != nil {
		return nil, err
	}
	return newDescriptor(tree, name, c.kind), nil
}

// discover lists the plugins by the names of their directories; it does not go deeper
// and opens no descriptor.
func discover(dirs []string) ([]string, error) {
	var found []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if _, err := os.Stat(filepath.Join(dir, entry.Name(), descriptorFile)); err == nil && plainName(entry.Name()) {
				found = append(found, entry.Name())
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// readPluginFile reads one YAML file of a plugin, which must be a regular one.
func readPluginFile(file string) (*Tree, error) {
	raw, err := readBounded(file, maxDescriptor)
	if err != nil {
		return nil, err
	}
	return ParseYAML(file, raw)
}

const (
	toolSchemaVariable = "SIMPLEX_TOOL_EXTENSION_SCHEMA_DIR"
	hookSchemaVariable = "SIMPLEX_LOOP_EXTENSION_SCHEMA_DIR"
)

// toolConfig is the `config` of a toolset: from schema_directory, else from the
// directory that the environment names, else from beside the executable if it is there.
func toolConfig(e EnabledTool, env Env) (state.Object, error) {
	if e.SchemaDirectory != "" {
		return pluginConfig(filepath.Join(e.SchemaDirectory, "config.yaml"), e.Name, true)
	}
	return placedConfig(e.Name, env, toolSchemaVariable, "tools")
}

func hookConfig(e EnabledHook, env Env) (state.Object, error) {
	if e.ConfigFile != "" {
		return pluginConfig(e.ConfigFile, e.Name, true)
	}
	return placedConfig(e.Name, env, hookSchemaVariable, "loop")
}

func placedConfig(name string, env Env, variable, set string) (state.Object, error) {
	if root, ok := env.lookup(variable); ok && root != "" {
		config, err := pluginConfig(filepath.Join(root, name, "config.yaml"), name, true)
		if failed, bare := err.(*fs.PathError); bare {
			return config, &Error{File: failed.Path, Message: failed.Err.Error() + "; " + variable + " says that it is there", Err: err}
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
	c := &checker{tree: tree}
	c.closed(tree.Root, "", "name", "description", "config")
	if n := tree.Root.Get("name"); n != nil {
		c.text(n, &Key{Enum: []string{name}}, "/name")
	} else {
		c.fail(0, "/name", "is required")
	}
	if n := tree.Root.Get("description"); n != nil {
		c.text(n, &Key{}, "/description")
	}
	config := state.EmptyObject()
	if n := tree.Root.Get("config"); n != nil && c.kind(n, KindMapping, "/config") {
		config, _ = n.JSON().Object()
	}
	if len(c.errs) > 0 {
		return state.Object{}, c.errs.sorted()
	}
	return config, nil
}
