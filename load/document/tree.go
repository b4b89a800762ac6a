package document

import (
	"encoding/json/jsontext"
	"slices"
	"strings"

	"simplex/state"
)

// Kind is what a node is after the conversion of §2.1.
type Kind uint8

// The kinds of JSON values, with integers told from other numbers.
const (
	KindNull Kind = iota + 1
	KindBool
	KindInt
	KindFloat
	KindString
	KindSequence
	KindMapping
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "an integer", "a number", "text", "a list", "a mapping"}[k]
}

// Node is one value of a document, with its place.
type Node struct {
	Kind    Kind
	Line    int      // 1-based; 0 in a tree made from JSON
	Text    string   // text of a string; JSON literal of null, booleans and numbers
	Items   []*Node  // of a sequence
	Members []Member // of a mapping, in document order, without duplicates
}

// Member is one key of a mapping and its value.
type Member struct {
	Name  string
	Line  int // of the key
	Value *Node
}

// Tree is one document; its root is always a mapping.
type Tree struct {
	Name string // file name for messages
	Root *Node
}

// Get gives the member of that name, or nil where the node is nil, no mapping, or
// has none.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return n.Members[i].Value
		}
	}
	return nil
}

// JSON is the document as a JSON value with sorted keys.
func (t *Tree) JSON() state.Value { return t.Root.JSON() }

// JSON is the node as a JSON value with sorted keys; unset for nil.
func (n *Node) JSON() state.Value {
	if n == nil {
		return state.Value{}
	}
	v, err := state.ParseValue(n.appendJSON(nil))
	if err != nil { // every tree is made from checked text: unreachable
		panic("document: tree that is no JSON: " + err.Error())
	}
	return v
}

func (n *Node) appendJSON(dst []byte) []byte {
	switch n.Kind {
	case KindString:
		return appendQuoted(dst, n.Text)
	case KindSequence:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst)
		}
		return append(dst, ']')
	case KindMapping:
		members := slices.SortedFunc(slices.Values(n.Members), func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, m.Name), ':')
			dst = m.Value.appendJSON(dst)
		}
		return append(dst, '}')
	default:
		return append(dst, n.Text...)
	}
}

func appendQuoted(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the text is valid UTF-8: ParseYAML and jsontext see to it
	return dst
}

// Join adds one name to a slash path, escaped as in a JSON pointer.
func Join(path, name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return path + "/" + name
}
