package tools

import (
	"os"
	"path/filepath"

	"simplex/state"
)

// ExtensionEnv is the variable that names the directory above the schema directories
// of all plugin toolsets (§1.3).
const ExtensionEnv = "SIMPLEX_TOOL_EXTENSION_SCHEMA_DIR"

// Extension is what config.yaml in the schema directory of a plugin toolset says.
type Extension struct {
	Name        string
	Description string
	// Config is for building the set; it is always set.
	Config state.Object
}

// ExtensionDir is the schema directory of a plugin toolset, below root if that is
// not empty, else below the directory the environment names, else beside the
// executable. It need not be there.
func ExtensionDir(root, set string) (string, error) {
	if root == "" {
		root = os.Getenv(ExtensionEnv)
	}
	if root != "" {
		return filepath.Join(root, set), nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(exe), "schemas", "tools", "extensions", set), nil
}

// DecodeExtension reads the config.yaml of the plugin of that name. Its keys are
// closed: name, description and config, and name must be the plugin's own. Errors
// are *DeclarationError.
func DecodeExtension(file, plugin string, doc state.Value) (Extension, error) {
	at := func(path, reason string) error { return &DeclarationError{file, path, reason} }
	o, err := doc.Object()
	if err != nil {
		return Extension{}, at("/", "must be a mapping")
	}
	e := Extension{Config: state.EmptyObject()}
	for _, m := range o.Members() {
		var ok bool
		switch m.Name {
		case "name":
			e.Name, ok = m.Value.Text()
		case "description":
			e.Description, ok = m.Value.Text()
		case "config":
			if e.Config, err = m.Value.Object(); err != nil {
				return Extension{}, at("/config", "must be a mapping")
			}
			ok = true
		default:
			return Extension{}, at("/"+m.Name, "is not known; known are name, description, config")
		}
		if !ok {
			return Extension{}, at("/"+m.Name, "must be a string")
		}
	}
	if e.Name != plugin {
		return Extension{}, at("/name", "must be the plugin's name, "+plugin)
	}
	if e.Description == "" {
		return Extension{}, at("/description", "is required and must not be empty")
	}
	return e, nil
}

// DecodeExtensionTool is DecodeDeclaration for a tool of a plugin set, whose name must
// be that of its file without the suffix.
func DecodeExtensionTool(file string, doc state.Value) (Declaration, error) {
	d, err := DecodeDeclaration(file, doc)
	if err != nil {
		return Declaration{}, err
	}
	return d, checkStem(file, d.Name)
}

// checkStem wants the tool named like its file.
func checkStem(file, name string) error {
	base := filepath.Base(file)
	if stem := base[:len(base)-len(filepath.Ext(base))]; name != stem {
		return &DeclarationError{file, "/name", "must be " + stem + ", like its file"}
	}
	return nil
}
