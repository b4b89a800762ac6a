package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"simplex/load/document"
	"simplex/load/schema"
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

// MissingError tells of an enabled plugin that is in none of the directories.
type MissingError struct {
	Name        string
	Directories []string
	Found       []string // names of those that are there
}

func (e *MissingError) Error() string {
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
		return nil, &MissingError{name, dirs, found}
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
			if _, err := os.Stat(filepath.Join(dir, entry.Name(), descriptorFile)); err == nil && schema.IsName(entry.Name()) {
				found = append(found, entry.Name())
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// readPluginFile reads one YAML file of a plugin, which must be a regular one.
func readPluginFile(file string) (*document.Tree, error) {
	raw, err := document.ReadAtMost(file, maxDescriptor)
	if err != nil {
		return nil, err
	}
	return document.ParseYAML(file, raw)
}
