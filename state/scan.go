package state

import (
	"slices"
	"strings"
)

// scanner reads JSON text in one pass. The first error sticks: every method is a no-op
// afterwards, and the loops over members and items put the path in front of it on the
// way out, so that a path costs nothing until there is something to tell.
type scanner struct {
	data    []byte
	pos     int
	err     *DecodeError
	limit   int    // deepest nesting of a free-form value
	record  bool   // a single record is read: null for a nested record means its defaults
	scratch []byte // unescaped strings
	out     []byte // free-form values being put into canonical form
	spans   []span // members of the free-form objects that are open
}

// Nesting limits. A document may be deeper than what any input boundary lets in, so that
// a value which was accepted and then wrapped in a record can always be read again.
const (
	maxInputDepth    = 1000
	maxDocumentDepth = 2000
)

// fields is the state of reading one object of a typed record.
type fields struct {
	key     []byte
	active  bool
	seen    uint32
	unknown []Member
}

// items is the state of reading one array.
type items struct {
	n      int
	active bool
}

func (s *scanner) fail(problem string) {
	if s.err == nil {
		s.err = &DecodeError{Offset: s.pos, Problem: problem}
	}
}

func (s *scanner) syntax(problem string) {
	if s.err == nil {
		if s.pos >= len(s.data) {
			problem = "unexpected end of text"
		}
		s.err = &DecodeError{Offset: s.pos, Problem: problem, Syntax: true}
	}
}

// want reports a value of the wrong type, or no value at all.
func (s *scanner) want(what string) {
	switch c := s.peek(); {
	case c == '{', c == '[', c == '"', c == '-', c >= '0' && c <= '9', c == 't', c == 'f', c == 'n':
		s.fail("must be " + what)
	default:
		s.syntax("invalid character where a value must be")
	}
}

// peek skips white space and gives the next byte, 0 at the end.
func (s *scanner) peek() byte {
	data, i := s.data, s.pos
	for i < len(data) {
		c := data[i]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			s.pos = i
			return c
		}
		i++
	}
	s.pos = i
	return 0
}

func (s *scanner) object(f *fields) {
	if s.err != nil {
		return
	}
	if s.peek() != '{' {
		s.want("an object")
		return
	}
	s.pos++
}

// next moves to the value of the next member and is false at the end or on an error.
func (s *scanner) next(f *fields) bool {
	if s.err != nil {
		if f.active {
			s.err.within(f.key)
		}
		return false
	}
	c := s.peek()
	if c == '}' {
		s.pos++
		return false
	}
	if f.active {
		if c != ',' {
			s.syntax("invalid character after a member, where , or } must be")
			return false
		}
		s.pos++
		c = s.peek()
	}
	key := s.memberName(c)
	if s.err != nil {
		return false
	}
	f.key, f.active = key, true
	return true
}

// memberName reads `"name":` whose first byte is c. The bytes stay valid.
func (s *scanner) memberName(c byte) []byte {
	if c != '"' {
		s.syntax("invalid character where a member name must be")
		return nil
	}
	key, escaped := s.text()
	if s.err != nil {
		return nil
	}
	if escaped {
		key = slices.Clone(key)
	}
	if s.peek() != ':' {
		s.syntax("invalid character after a member name, where : must be")
		return nil
	}
	s.pos++
	return key
}

// once is false, and an error, if the member with that bit came before.
func (s *scanner) once(f *fields, bit uint) bool {
	if f.seen&(1<<bit) != 0 {
		s.fail("duplicate key")
		return false
	}
	f.seen |= 1 << bit
	return true
}

func (f *fields) has(bit uint) bool { return f.seen&(1<<bit) != 0 }

// keep reads the value of a member that no record type knows.
func (s *scanner) keep(f *fields) {
	if v := s.free(1); s.err == nil {
		f.unknown = append(f.unknown, Member{string(f.key), v})
	}
}

// rest gives the unknown members read by keep.
func (s *scanner) rest(f *fields) Object {
	if s.err != nil || len(f.unknown) == 0 {
		return Object{}
	}
	slices.SortStableFunc(f.unknown, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(f.unknown); i++ {
		if f.unknown[i].Name == f.unknown[i-1].Name {
			s.fail("duplicate key")
			s.err.within([]byte(f.unknown[i].Name))
			return Object{}
		}
	}
	return joinMembers(f.unknown)
}

func (s *scanner) array(*items) {
	if s.err != nil {
		return
	}
	if s.peek() != '[' {
		s.want("an array")
		return
	}
	s.pos++
}

// item moves to the next item and is false at the end or on an error.
func (s *scanner) item(a *items) bool {
	if s.err != nil {
		if a.active {
			s.err.withinIndex(a.n - 1)
		}
		return false
	}
	c := s.peek()
	if c == ']' && !a.active {
		s.pos++
		return false
	}
	if a.active {
		if c == ']' {
			s.pos++
			return false
		}
		if c != ',' {
			s.syntax("invalid character after an item, where , or ] must be")
			return false
		}
		s.pos++
	}
	a.n++
	a.active = true
	return true
}

// null skips a null and tells whether there was one.
func (s *scanner) null() bool {
	return s.err == nil && s.peek() == 'n' && s.literal("null")
}

func (s *scanner) literal(word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.syntax("invalid literal")
		return false
	}
	s.pos += len(word)
	return true
}

// end checks that nothing follows the value.
func (s *scanner) end() {
	if s.err == nil && (s.peek() != 0 || s.pos < len(s.data)) {
		s.syntax("text after the JSON value")
	}
}
