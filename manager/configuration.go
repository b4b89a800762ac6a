package manager

import (
	"encoding/json/jsontext"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/load"
	"simplex/manager/protocol"
)

// The connection endpoints of a configuration, with the last part of their placeholders.
var endpoints = [...]struct {
	path        []string
	placeholder string
	create      bool // an override makes a missing section
	override    func(protocol.Refresh) *string
}{
	{[]string{"client", "endpoint"}, "events", true, func(r protocol.Refresh) *string { return r.ClientEndpoint }},
	{[]string{"security", "confirmation", "endpoint"}, "confirmation", false, func(r protocol.Refresh) *string { return r.ConfirmationEndpoint }},
	{[]string{"hub_remote_call", "endpoint"}, "tools", false, func(r protocol.Refresh) *string { return r.ToolsEndpoint }},
}

// document is an effective configuration and where it keeps its storage.
type document struct {
	Effective jsontext.Value `json:"effective_configuration"` // a JSON object with sorted keys
	Backend   string         `json:"backend"`                 // json or sqlite
	State     string         `json:"state"`                   // below the root, normalized
	Memory    string         `json:"memory"`
}

// effective applies overrides and the storage root to the source's tree; the text is
// never changed. Errors are invalid_configuration.
func effective(source string, overrides protocol.Refresh, directory string) (*document, error) {
	tree, err := load.ParseYAML("configuration", []byte(source))
	if err != nil {
		return nil, refuse(protocol.InvalidConfiguration, err.Error())
	}
	root := tree.Root
	for _, e := range endpoints {
		url := e.override(overrides)
		if url == nil {
			continue
		}
		section := root.At(e.path[:len(e.path)-1]...)
		if e.create && (section == nil || section.Kind == load.KindNull) {
			root = root.WithAt(e.path[:len(e.path)-1], &load.Node{Kind: load.KindMapping})
		} else if section == nil || section.Kind != load.KindMapping {
			continue // not enabled in the source: an override never enables it
		}
		root = root.WithAt(e.path, load.TextNode(*url))
	}
	doc := &document{Backend: "json"}
	if err := doc.storage(root.Get("persistence")); err != nil {
		return nil, refuse(protocol.InvalidConfiguration, "configuration: persistence"+err.Error())
	}
	root = root.WithAt([]string{"persistence", "directory"}, load.TextNode(directory))
	doc.Effective = jsontext.Value((&load.Tree{Root: root}).JSON().Bytes())
	return doc, nil
}

// storage checks the keys that decide where a worker writes below its root.
func (d *document) storage(p *load.Node) error {
	if p != nil && p.Kind != load.KindMapping {
		return errors.New(": must be a mapping")
	}
	if f := p.Get("format"); f != nil {
		if f.Kind != load.KindString || f.Text != "json" && f.Text != "sqlite" {
			return errors.New(".format: must be json or sqlite")
		}
		d.Backend = f.Text
	}
	state, err := storageKey(p, "state")
	if err != nil {
		return err
	}
	memory, err := storageKey(p, "memory")
	if err != nil {
		return err
	}
	if within(state, memory) || within(memory, state) {
		return errors.New(": state and memory must be neither the same nor inside one another")
	}
	d.State, d.Memory = state, memory
	return nil
}

func storageKey(p *load.Node, name string) (string, error) {
	n := p.Get(name)
	if n == nil {
		return name, nil // the default is the key's own name
	}
	bad := func(why string) (string, error) { return "", errors.New("." + name + ": " + why) }
	switch s := n.Text; {
	case n.Kind != load.KindString:
		return bad("must be text")
	case s == "":
		return bad("must not be empty")
	case strings.IndexByte(s, 0) >= 0:
		return bad("must not hold a NUL")
	case path.IsAbs(s):
		return bad("must be relative")
	case slices.Contains(strings.Split(s, "/"), ".."):
		return bad("must not hold a .. component")
	}
	clean := path.Clean(n.Text)
	if slices.ContainsFunc(strings.Split(clean, "/"), func(part string) bool { return len(part) > unix.NAME_MAX }) {
		return bad("must have components of at most 255 bytes")
	}
	if clean == "." || within(clean, configDir) || within(clean, sessionLock) {
		return bad("must be a place of its own below the root")
	}
	return clean, nil
}

// within tells whether a is b or below it; both are normalized.
func within(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }

// checkRefresh checks the URLs as a worker checks its endpoints.
func checkRefresh(r *protocol.Refresh) error {
	for name, url := range map[string]*string{
		"client_endpoint": r.ClientEndpoint, "confirmation_endpoint": r.ConfirmationEndpoint, "tools_endpoint": r.ToolsEndpoint,
	} {
		if url == nil {
			continue
		}
		if _, err := load.ParseEndpoint(*url); err != nil {
			return refuse(protocol.InvalidRequest, "refresh."+name+": "+err.Error())
		}
	}
	return nil
}

func configPath(directory string) string { return filepath.Join(directory, configDir, configFile) }
