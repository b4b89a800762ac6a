package state

import (
	"iter"
	"slices"
	"strings"
)

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// All yields the members in key order; nothing for unset.
func (o Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for pos := 1; pos < len(o.raw)-1; {
			nameEnd := stringEnd(o.raw, pos)
			end := valueEnd(o.raw, nameEnd+1)
			if !yield(unquote(o.raw[pos:nameEnd]), Value{o.raw[nameEnd+1 : end]}) {
				return
			}
			pos = end + 1
		}
	}
}

// Len is the number of members.
func (o Object) Len() int {
	n := 0
	for range o.All() {
		n++
	}
	return n
}

// Members lists the members in key order; nil for unset.
func (o Object) Members() []Member {
	var out []Member
	for name, v := range o.All() {
		out = append(out, Member{name, v})
	}
	return out
}

// ObjectFrom builds an object from members; a later one of the same name wins.
func ObjectFrom(members []Member) Object {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	kept := sorted[:0]
	for i, m := range sorted {
		if i+1 == len(sorted) || sorted[i+1].Name != m.Name {
			kept = append(kept, m)
		}
	}
	return joinMembers(kept)
}

// joinMembers builds an object from members in order, no two of one name.
func joinMembers(members []Member) Object {
	if len(members) == 0 {
		return EmptyObject()
	}
	size := 2
	for _, m := range members {
		size += len(m.Name) + len(m.Value.raw) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMember(out, m)
	}
	return Object{Value{string(append(out, '}'))}}
}

func appendMember(out []byte, m Member) []byte {
	start := len(out)
	out, ok := appendQuoted(out, m.Name)
	if !ok {
		out, _ = appendQuoted(out[:start], strings.ToValidUTF8(m.Name, "\uFFFD"))
	}
	out = append(out, ':')
	if m.Value.raw == "" {
		return append(out, "null"...)
	}
	return append(out, m.Value.raw...)
}

// Get gives the member of that name.
func (o Object) Get(name string) (Value, bool) {
	for n, v := range o.All() {
		if n == name {
			return v, true
		}
	}
	return Value{}, false
}

// With gives a copy in which the member has that value (null if the value is unset); an
// unset object counts as empty.
func (o Object) With(name string, v Value) Object {
	return ObjectFrom(append(o.Members(), Member{name, v}))
}

// Without gives a copy that lacks the member.
func (o Object) Without(name string) Object {
	if o.raw == "" {
		return o
	}
	return joinMembers(slices.DeleteFunc(o.Members(), func(m Member) bool { return m.Name == name }))
}

// Items lists the items of an array, and is false for other kinds.
func (v Value) Items() ([]Value, bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	var out []Value
	for pos := 1; pos < len(v.raw)-1; {
		end := valueEnd(v.raw, pos)
		out = append(out, Value{v.raw[pos:end]})
		pos = end + 1
	}
	return out, true
}

// valueEnd gives the index after the value that begins at i of canonical text.
func valueEnd(raw string, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
