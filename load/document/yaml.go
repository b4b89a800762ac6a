package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"simplex/state"
)

// Limits of a YAML document (worker-data.md §2.1 and decision 9.4).
const (
	maxDepth    = 256  // mappings and lists inside one another, the root included
	maxExpanded = 1000 // nodes that all aliases of a document together may stand for
)

// ParseYAML converts one YAML document by the table of §2.1. name is used in errors.
// The root must be a mapping. A byte order mark and CRLF are accepted; duplicate keys,
// tabs as indentation, a second document, foreign tags, keys that are no scalars,
// nesting beyond 256 and alias expansion beyond 1,000 nodes are errors with their line.
// Every error is an *Error.
func ParseYAML(name string, raw []byte) (*Tree, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return nil, &Error{File: name, Line: invalidLine(raw), Message: "is not valid UTF-8"}
	}
	c := &converter{file: name, raw: raw, tabs: bytes.IndexByte(raw, '\t') >= 0}
	doc, err := c.document()
	if err != nil {
		return nil, err
	}
	root, err := c.node(doc, 1)
	if err != nil {
		return nil, err
	}
	if root.Kind != KindMapping {
		return nil, c.fail(root.Line, "the document must be a mapping, not %s", root.Kind)
	}
	return &Tree{Name: name, Root: root}, nil
}

// DecodeYAML is ParseYAML for callers that want the JSON value alone.
func DecodeYAML(name string, raw []byte) (state.Value, error) {
	t, err := ParseYAML(name, raw)
	if err != nil {
		return state.Value{}, err
	}
	return t.JSON(), nil
}

// converter walks the library's nodes of one document.
type converter struct {
	file     string
	raw      []byte
	tabs     bool     // the document has a tab somewhere
	lines    [][]byte // split when tabs is set and the first line is looked at
	alias    int      // line of the outermost alias being expanded; 0 outside
	expanded int      // nodes made from aliases so far
}

func (c *converter) fail(line int, format string, args ...any) *Error {
	return &Error{File: c.file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// document parses the text and gives the root of its only document.
func (c *converter) document() (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(c.raw))
	var doc, second yaml.Node
	err := decodeNode(dec, &doc)
	if errors.Is(err, io.EOF) {
		return nil, c.fail(1, "the document is empty; it must be a mapping")
	}
	if err != nil {
		return nil, c.syntax(err)
	}
	switch err := decodeNode(dec, &second); {
	case err == nil:
		return nil, c.fail(second.Line, "a second document begins here; only one is allowed")
	case !errors.Is(err, io.EOF):
		return nil, c.syntax(err)
	}
	return doc.Content[0], nil
}

// decodeNode reads the next document; what the library panics with becomes an error.
func decodeNode(dec *yaml.Decoder, out *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", p)
		}
	}()
	return dec.Decode(out)
}

func (c *converter) node(y *yaml.Node, depth int) (*Node, error) {
	if c.alias > 0 {
		if c.expanded++; c.expanded > maxExpanded {
			return nil, c.fail(c.alias, "aliases expand to more than %d nodes", maxExpanded)
		}
	}
	switch y.Kind {
	case yaml.AliasNode:
		return c.follow(y, depth)
	case yaml.ScalarNode:
		return c.scalar(y)
	}
	if depth > maxDepth && c.alias > 0 {
		return nil, c.fail(c.alias, "an alias leads to nesting deeper than %d levels, or into itself", maxDepth)
	}
	if depth > maxDepth {
		return nil, c.fail(y.Line, "is nested deeper than %d levels", maxDepth)
	}
	if y.Kind == yaml.SequenceNode {
		return c.sequence(y, depth)
	}
	return c.mapping(y, depth)
}

// follow expands one alias. An anchor that contains itself runs into the limits.
func (c *converter) follow(y *yaml.Node, depth int) (*Node, error) {
	if c.alias == 0 {
		c.alias = y.Line
		defer func() { c.alias = 0 }()
	}
	return c.node(y.Alias, depth)
}

func (c *converter) sequence(y *yaml.Node, depth int) (*Node, error) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!seq" {
		return nil, c.fail(y.Line, "has a tag (!) that is not supported; quote the value if it is text")
	}
	n := &Node{Kind: KindSequence, Line: y.Line, Items: make([]*Node, 0, len(y.Content))}
	for _, item := range y.Content {
		if err := c.indent(item, y); err != nil {
			return nil, err
		}
		v, err := c.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	return n, nil
}

func (c *converter) mapping(y *yaml.Node, depth int) (*Node, error) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!map" {
		return nil, c.fail(y.Line, "has a tag (!) that is not supported; quote the value if it is text")
	}
	n := &Node{Kind: KindMapping, Line: y.Line, Members: make([]Member, 0, len(y.Content)/2)}
	seen := make(map[string]int, len(y.Content)/2)
	var merge *yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		for _, part := range y.Content[i : i+2] {
			if err := c.indent(part, y); err != nil {
				return nil, err
			}
		}
		key, err := c.key(k)
		if err != nil {
			return nil, err
		}
		first, twice := seen[key.Value]
		if twice && k.Kind == yaml.AliasNode { // what it stands for may be a secret
			return nil, c.fail(k.Line, "the key *%s appears twice; the first is in line %d", k.Value, first)
		}
		if twice {
			return nil, c.fail(k.Line, "the key %q appears twice; the first is in line %d", key.Value, first)
		}
		seen[key.Value] = k.Line
		if key.Tag == "!!merge" && key.Style == 0 {
			merge = v
			delete(seen, key.Value)
			if c.merges(y) > 1 {
				return nil, c.fail(k.Line, "the merge key << appears twice; give it a list")
			}
			continue
		}
		value, err := c.node(v, depth+1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{key.Value, k.Line, value})
	}
	if merge == nil {
		return n, nil
	}
	return n, c.merge(n, merge, depth)
}

func (c *converter) merges(y *yaml.Node) int {
	count := 0
	for i := 0; i < len(y.Content); i += 2 {
		if k := y.Content[i]; k.Kind == yaml.ScalarNode && k.Tag == "!!merge" && k.Style == 0 {
			count++
		}
	}
	return count
}

// key gives the scalar of a mapping key; its text counts, whatever type it looks like.
func (c *converter) key(k *yaml.Node) (*yaml.Node, error) {
	at := k.Line
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		return nil, c.fail(at, "a mapping key must be a scalar")
	}
	return k, nil
}

// merge adds the members of the value of a << key that the mapping does not have.
func (c *converter) merge(n *Node, y *yaml.Node, depth int) error {
	v, err := c.node(y, depth+1)
	if err != nil {
		return err
	}
	sources := []*Node{v}
	if v.Kind == KindSequence {
		sources = v.Items
	}
	for _, from := range sources {
		if from.Kind != KindMapping {
			return c.fail(y.Line, "the merge key << needs a mapping or a list of mappings, not %s", from.Kind)
		}
		for _, m := range from.Members {
			if n.Get(m.Name) == nil {
				n.Members = append(n.Members, m)
			}
		}
	}
	return nil
}

// indent refuses a node of a block collection that begins its line after a tab.
func (c *converter) indent(y, parent *yaml.Node) error {
	if !c.tabs || parent.Style&yaml.FlowStyle != 0 {
		return nil
	}
	if c.lines == nil {
		c.lines = bytes.Split(c.raw, []byte{'\n'})
	}
	blank := leadingBlank(c.lines[min(y.Line, len(c.lines))-1])
	if bytes.IndexByte(blank, '\t') < 0 || y.Column > len(blank)+1 {
		return nil
	}
	return c.fail(y.Line, tabMessage)
}
