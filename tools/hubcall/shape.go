package hubcall

import (
	"fmt"
	"slices"
	"strconv"

	"simplex/internal/text"
	"simplex/state"
	"simplex/wire"
)

// shapeError says what is wrong with a result, by the names of its members only.
type shapeError struct{ where, problem string }

func (e *shapeError) Error() string { return e.where + " " + e.problem }

// object reads the members of one object of a result, strictly. The first mistake is
// kept in err, which all objects of a result share; after it, zero values are given.
// Members that are not asked for are tolerated.
type object struct {
	members map[string]state.Value
	where   string // path of the object, "" for the result
	err     *error
}

func readObject(o state.Object, where string, err *error) object {
	out := object{map[string]state.Value{}, where, err}
	for name, v := range o.All() {
		out.members[name] = v
	}
	return out
}

func (o object) path(name string) string {
	if o.where == "" {
		return name
	}
	return o.where + "." + name
}

func (o object) fail(name, problem string) {
	if *o.err == nil {
		*o.err = &shapeError{o.path(name), problem}
	}
}

// has tells whether a member is there and not null.
func (o object) has(name string) bool { return !o.members[name].IsNull() }

// text is a string of at most most bytes; 0 is no limit.
func (o object) text(name string, most int) string {
	s, ok := o.members[name].Text()
	switch {
	case !ok:
		o.fail(name, "is no string")
	case most > 0 && len(s) > most:
		o.fail(name, fmt.Sprintf("is longer than %d bytes", most))
	default:
		return s
	}
	return ""
}

// id is a nonempty string of at most 128 bytes.
func (o object) id(name string) string {
	s := o.text(name, wire.MaxID)
	if s == "" {
		o.fail(name, "is empty")
	}
	return s
}

// nullable gives a string or null; ok is false for null. Longer strings are cut if cut
// is true, and are a mistake otherwise.
func (o object) nullable(name string, most int, cut bool) (s string, ok bool) {
	v, there := o.members[name]
	if there && v.IsNull() {
		return "", false
	}
	if !cut {
		return o.text(name, most), true
	}
	return text.Prefix(o.text(name, 0), most), true
}

// word is one of the given strings.
func (o object) word(name string, words ...string) string {
	s, _ := o.members[name].Text()
	if !slices.Contains(words, s) {
		o.fail(name, "is none of the known words")
		return ""
	}
	return s
}

func (o object) boolean(name string) bool {
	switch o.members[name] {
	case state.BoolValue(true):
		return true
	case state.BoolValue(false):
	default:
		o.fail(name, "is neither true nor false")
	}
	return false
}

// flag is a boolean that may be absent.
func (o object) flag(name string) bool { return o.has(name) && o.boolean(name) }

// count is an integer from 0 to 2^53-1.
func (o object) count(name string) uint64 {
	n, ok := countOf(o.members[name])
	if !ok {
		o.fail(name, "is no count")
	}
	return n
}

func countOf(v state.Value) (uint64, bool) {
	n, err := strconv.ParseUint(v.String(), 10, 64)
	return n, err == nil && n <= wire.MaxAnswerInteger
}

// object is a member that is an object.
func (o object) object(name string) object {
	inner, err := o.members[name].Object()
	if err != nil {
		o.fail(name, "is no object")
	}
	return readObject(inner, o.path(name), o.err)
}

// objects is a list of at most most objects.
func (o object) objects(name string, most int) []object {
	items, ok := o.members[name].Items()
	if !ok {
		o.fail(name, "is no list")
	}
	if len(items) > most {
		o.fail(name, fmt.Sprintf("has more than %d entries", most))
		return nil
	}
	var out []object
	for i, item := range items {
		where := fmt.Sprintf("%s[%d]", o.path(name), i)
		inner, err := item.Object()
		if err != nil {
			o.fail(fmt.Sprintf("%s[%d]", name, i), "is no object")
		}
		out = append(out, readObject(inner, where, o.err))
	}
	return out
}
