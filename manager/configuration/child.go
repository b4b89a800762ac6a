package configuration

import (
	"path/filepath"

	"simplex/load/document"
	"simplex/manager/protocol"
)

// Child derives a child's source from a captured configuration: JSON text, which is YAML,
// too. parent and child are the two allocations' directories. Errors are of a capture that
// is no JSON object, or invalid_configuration.
func Child(captured []byte, parent, child string) (string, error) {
	tree, err := document.ParseJSON("captured configuration", captured)
	if err != nil {
		return "", err
	}
	root := rebase(tree.Root, filepath.Join(parent, Dir))
	for _, e := range endpoints {
		if root.At(e.path...) != nil {
			root = root.WithAt(e.path, document.TextNode("ws://"+placeholderHost+"/"+e.placeholder))
		}
	}
	root = root.WithAt([]string{"persistence", "restore"}, document.TextNode("if_present"))
	root = root.WithAt([]string{"persistence", "directory"}, document.TextNode(child))
	text := string(EscapeYAML((&document.Tree{Root: root}).JSON().Bytes()))
	if _, err := Effective(text, protocol.Refresh{}, child); err != nil {
		return "", err
	}
	return text, nil
}

// rebase makes config-relative paths absolute against the parent's config directory.
// Prompt paths are relative to the installation and stay.
func rebase(root *document.Node, base string) *document.Node {
	absolute := func(n *document.Node) *document.Node {
		if n == nil || n.Kind != document.KindString || n.Text == "" || filepath.IsAbs(n.Text) {
			return n
		}
		return document.TextNode(filepath.Join(base, n.Text))
	}
	set := func(path []string, value *document.Node) {
		if value != nil {
			root = root.WithAt(path, value)
		}
	}
	workspace := []string{"worker", "environment", "workspace"}
	set(workspace, absolute(root.At(workspace...)))
	for _, section := range [][]string{{"providers"}, {"extensions", "tools"}, {"extensions", "loop_hooks"}} {
		section = append([]string{"plugins"}, section...)
		dirs := append(section[:len(section):len(section)], "directories")
		set(dirs, each(root.At(dirs...), absolute))
		enable := append(section[:len(section):len(section)], "enable")
		set(enable, each(root.At(enable...), func(item *document.Node) *document.Node {
			for _, name := range []string{"schema_directory", "config_file"} {
				if item.Get(name) != nil {
					item = item.With(name, absolute(item.Get(name)))
				}
			}
			return item
		}))
	}
	return root
}

// each applies a change to every item of a list; what is no list stays.
func each(n *document.Node, change func(*document.Node) *document.Node) *document.Node {
	if n == nil || n.Kind != document.KindSequence {
		return n
	}
	out := *n
	out.Items = make([]*document.Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = change(item)
	}
	return &out
}

// EscapeYAML makes JSON text safe for a YAML reader: what YAML forbids or takes for a
// line end inside quotes is written as \u escapes. Such characters stand in strings only.
func EscapeYAML(raw []byte) []byte {
	plain := true
	for _, c := range raw {
		plain = plain && c < 0x7f
	}
	if plain {
		return raw
	}
	var out []byte
	for _, r := range string(raw) {
		if r >= 0x7f && r <= 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
			continue
		}
		out = append(out, string(r)...)
	}
	return out
}
