package statefile

import "bytes"

// manyNames is from where on an object's names are looked up in a map.
const manyNames = 16

// names are the members of one open object. Few are compared one by one, in one buffer
// that is kept from object to object.
type names struct {
	text []byte
	ends []int
	many map[string]struct{} // nil while there are few
}

// openNames begins an object.
func (s *scanner) openNames() {
	if n := len(s.names); n < cap(s.names) {
		s.names = s.names[:n+1]
		top := &s.names[n]
		top.text, top.ends, top.many = top.text[:0], top.ends[:0], nil
		return
	}
	s.names = append(s.names, names{})
}

// addName takes s.key into the innermost object; false if it is there already.
func (s *scanner) addName() bool {
	n := &s.names[len(s.names)-1]
	if n.many != nil {
		if _, twice := n.many[string(s.key)]; twice {
			return false
		}
		n.many[string(s.key)] = struct{}{}
		return true
	}
	start := 0
	for _, end := range n.ends {
		if bytes.Equal(n.text[start:end], s.key) {
			return false
		}
		start = end
	}
	n.text = append(n.text, s.key...)
	n.ends = append(n.ends, len(n.text))
	if len(n.ends) == manyNames {
		n.spread()
	}
	return true
}

func (n *names) spread() {
	n.many = make(map[string]struct{}, 4*manyNames)
	start := 0
	for _, end := range n.ends {
		n.many[string(n.text[start:end])] = struct{}{}
		start = end
	}
}
