package load

import (
	"strconv"
	"time"

	"simplex/load/document"
)

// section is one mapping that has passed the checker, read with the defaults of the
// table. Its node is nil where the mapping is omitted.
type section struct {
	node    *document.Node
	pattern string // as the table calls it
	path    string // as the document does
}

func (s section) sub(name string) section {
	return section{s.node.Get(name), s.pattern + "/" + name, document.Join(s.path, name)}
}

// entry is the section of one name of a table or one item of a list.
func (s section) entry(name string, n *document.Node) section {
	return section{n, s.pattern + "/*", document.Join(s.path, name)}
}

func (s section) has(name string) bool { return s.node.Get(name) != nil }

// line is where a key of the section stands, or the section if the key is absent.
func (s section) line(name string) int {
	if n := s.node.Get(name); n != nil {
		return n.Line
	}
	if s.node != nil {
		return s.node.Line
	}
	return 0
}

func (s section) text(name string) string {
	if n := s.node.Get(name); n != nil {
		return n.Text
	}
	return key(s.pattern + "/" + name).Default
}

func (s section) int(name string) int {
	i, err := strconv.Atoi(s.text(name))
	if err != nil {
		panic("load: default of " + s.pattern + "/" + name + ": " + err.Error())
	}
	return i
}

func (s section) count(name string) uint64 { return uint64(s.int(name)) }

func (s section) bool(name string) bool { return s.text(name) == "true" }

func (s section) ms(name string) time.Duration {
	return time.Duration(s.int(name)) * time.Millisecond
}

// items lists the sections of a list.
func (s section) items(name string) []section {
	list := s.sub(name)
	if list.node == nil {
		return nil
	}
	out := make([]section, len(list.node.Items))
	for i, n := range list.node.Items {
		out[i] = list.entry(strconv.Itoa(i), n)
	}
	return out
}

// texts lists the texts of a list.
func (s section) texts(name string) []string {
	var out []string
	for _, item := range s.items(name) {
		out = append(out, item.node.Text)
	}
	return out
}

// endpoint reads a URL that the checker has accepted.
func (s section) endpoint(name string) Endpoint {
	ep, err := ParseEndpoint(s.text(name))
	if err != nil {
		panic("load: unchecked endpoint " + s.path)
	}
	return ep
}
