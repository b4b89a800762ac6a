package document

import "slices"

// TextNode is a text value that stands in no document.
func TextNode(s string) *Node { return &Node{Kind: KindString, Text: s} }

// With gives a copy of the mapping n in which name has the value; a new name comes
// last. n itself is not changed. A nil n counts as an empty mapping.
func (n *Node) With(name string, value *Node) *Node {
	out := &Node{Kind: KindMapping}
	if n != nil {
		*out = *n
	}
	out.Members = slices.Clone(out.Members)
	for i := range out.Members {
		if out.Members[i].Name == name {
			out.Members[i].Value = value
			return out
		}
	}
	out.Members = append(out.Members, Member{Name: name, Value: value})
	return out
}

// WithAt is With for a value inside nested mappings. Missing mappings on the way are
// made; where something else than a mapping stands there, n is given back unchanged.
func (n *Node) WithAt(path []string, value *Node) *Node {
	if len(path) == 1 {
		return n.With(path[0], value)
	}
	inner := n.Get(path[0])
	if inner != nil && inner.Kind != KindMapping {
		return n
	}
	return n.With(path[0], inner.WithAt(path[1:], value))
}

// At is Get for a value inside nested mappings.
func (n *Node) At(path ...string) *Node {
	for _, name := range path {
		n = n.Get(name)
	}
	return n
}
