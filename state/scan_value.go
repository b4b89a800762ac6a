package state

import (
	"bytes"
	"math"
	"slices"
)

// span is one member of a free-form object in canonical form: out[start:end] is
// `"name":value`, out[start:name] the quoted name.
type span struct{ start, name, end int }

// free reads a free-form value into the form that Value promises; depth is how deep in
// such a value it stands already.
func (s *scanner) free(depth int) Value {
	if s.err != nil {
		return Value{}
	}
	s.out = s.out[:0]
	s.value(depth)
	if s.err != nil {
		return Value{}
	}
	if string(s.out) == "{}" {
		return Value{"{}"}
	}
	return Value{string(s.out)}
}

func (s *scanner) value(depth int) {
	switch c := s.peek(); {
	case c == '"':
		start := s.pos
		if content, escaped := s.text(); s.err != nil {
			return
		} else if escaped {
			s.out, _ = appendQuoted(s.out, content)
		} else {
			s.out = append(s.out, s.data[start:s.pos]...)
		}
	case c == '{' || c == '[':
		if depth >= s.limit {
			s.fail("is nested too deeply")
			return
		}
		if c == '{' {
			s.valueObject(depth + 1)
		} else {
			s.valueArray(depth + 1)
		}
	case c == '-' || c >= '0' && c <= '9':
		s.out = append(s.out, s.number()...)
	case c == 't' && s.literal("true"):
		s.out = append(s.out, "true"...)
	case c == 'f' && s.literal("false"):
		s.out = append(s.out, "false"...)
	case c == 'n' && s.literal("null"):
		s.out = append(s.out, "null"...)
	default:
		s.syntax("invalid character where a value must be")
	}
}

func (s *scanner) valueArray(depth int) {
	s.out = append(s.out, '[')
	var a items
	for s.array(&a); s.item(&a); {
		if a.n > 1 {
			s.out = append(s.out, ',')
		}
		s.value(depth)
	}
	s.out = append(s.out, ']')
}

func (s *scanner) valueObject(depth int) {
	base, opened := len(s.spans), len(s.out)
	s.out = append(s.out, '{')
	ordered := true
	var f fields
	for s.object(&f); s.next(&f); {
		if len(s.spans) > base {
			s.out = append(s.out, ',')
		}
		start := len(s.out)
		s.out, _ = appendQuoted(s.out, f.key)
		name := len(s.out)
		if n := len(s.spans); ordered && n > base {
			last := s.spans[n-1]
			ordered = compareQuoted(s.out[last.start:last.name], s.out[start:name]) < 0
		}
		s.out = append(s.out, ':')
		s.spans = append(s.spans, span{start, name, 0})
		own := len(s.spans) - 1
		s.value(depth)
		s.spans[own].end = len(s.out)
	}
	if s.err == nil && !ordered {
		s.reorder(base, opened)
	}
	s.spans = s.spans[:base]
	s.out = append(s.out, '}')
}

// reorder sorts the members from base on, whose text begins at opened.
func (s *scanner) reorder(base, opened int) {
	members := s.spans[base:]
	slices.SortFunc(members, func(a, b span) int {
		return compareQuoted(s.out[a.start:a.name], s.out[b.start:b.name])
	})
	sorted := append(make([]byte, 0, len(s.out)-opened), '{')
	for i, m := range members {
		if i > 0 {
			last := members[i-1]
			if bytes.Equal(s.out[last.start:last.name], s.out[m.start:m.name]) {
				s.fail("duplicate key")
				s.err.within([]byte(unquote(string(s.out[m.start:m.name]))))
				return
			}
			sorted = append(sorted, ',')
		}
		sorted = append(sorted, s.out[m.start:m.end]...)
	}
	s.out = append(s.out[:opened], sorted...)
}

// compareQuoted orders two canonical JSON strings by the text they stand for.
func compareQuoted(a, b []byte) int {
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		return bytes.Compare(a[1:len(a)-1], b[1:len(b)-1])
	}
	return bytes.Compare([]byte(unquote(string(a))), []byte(unquote(string(b))))
}

// number reads a number literal, which is not empty unless there is an error.
func (s *scanner) number() []byte {
	start, i, data := s.pos, s.pos, s.data
	if i < len(data) && data[i] == '-' {
		i++
	}
	whole := digits(data, i)
	ok := whole > i && (data[i] != '0' || whole == i+1)
	i = whole
	if ok && i < len(data) && data[i] == '.' {
		i = digits(data, i+1)
		ok = data[i-1] != '.'
	}
	if ok && i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := digits(data, i)
		ok = end > i
		i = end
	}
	s.pos = i
	if !ok {
		s.syntax("invalid number")
		return nil
	}
	return data[start:i]
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

// uint reads a JSON integer in 0..limit.
func (s *scanner) uint(limit uint64) uint64 {
	if s.err != nil {
		return 0
	}
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.want("an integer")
		return 0
	}
	start := s.pos
	lit := s.number()
	if s.err != nil {
		return 0
	}
	var n uint64
	for _, c := range lit {
		d := uint64(c - '0')
		if d > 9 {
			s.pos = start
			s.fail(integerProblem(lit))
			return 0
		}
		if n > (math.MaxUint64-d)/10 {
			s.pos = start
			s.fail("is out of range")
			return 0
		}
		n = n*10 + d
	}
	if n > limit {
		s.pos = start
		s.fail("is out of range")
	}
	return n
}

func integerProblem(lit []byte) string {
	if lit[0] == '-' && !bytes.ContainsAny(lit, ".eE") {
		return "must not be negative"
	}
	return "must be an integer"
}

// int reads a JSON integer of 32 bits.
func (s *scanner) int() int {
	if s.err == nil && s.peek() == '-' && s.pos+1 < len(s.data) && s.data[s.pos+1] >= '0' && s.data[s.pos+1] <= '9' {
		s.pos++
		return -int(s.uint(-math.MinInt32))
	}
	return int(s.uint(math.MaxInt32))
}

// str reads a string.
func (s *scanner) str() string {
	if s.err != nil {
		return ""
	}
	if s.peek() != '"' {
		s.want("a string")
		return ""
	}
	content, _ := s.text()
	return string(content)
}
