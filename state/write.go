package state

import (
	"slices"
	"strconv"
	"strings"
)

// maxRecordDepth is more than the deepest nesting of typed records in a document.
const maxRecordDepth = 16

// place names the member or item being written at one depth.
type place struct {
	key  string // "" for an item of an array
	item int
}

// writer builds JSON text, either compact or as a document (two spaces per level).
// The first error sticks.
type writer struct {
	buf     []byte
	compact bool
	replace bool // invalid UTF-8 is replaced instead of being an error
	depth   int
	first   bool     // nothing was written yet in the innermost object or array
	rest    []Member // unknown members of the innermost object not written yet
	places  [maxRecordDepth]place
	err     error
}

// open begins an object that also has the given unknown members; what it returns goes to
// close.
func (w *writer) open(unknown Object) []Member {
	saved := w.rest
	w.rest = nil
	if unknown.raw != "" {
		w.rest = unknown.Members()
	}
	w.begin('{')
	return saved
}

func (w *writer) close(saved []Member) {
	for len(w.rest) > 0 {
		w.unknown()
	}
	w.finish('}')
	w.rest = saved
}

func (w *writer) begin(c byte) {
	w.buf = append(w.buf, c)
	w.depth++
	w.first = true
}

func (w *writer) finish(c byte) {
	w.depth--
	if !w.first && !w.compact {
		w.buf = appendLine(w.buf, w.depth)
	}
	w.buf = append(w.buf, c)
	w.first = false
}

func (w *writer) separate() {
	if !w.first {
		w.buf = append(w.buf, ',')
	}
	w.first = false
	if !w.compact {
		w.buf = appendLine(w.buf, w.depth)
	}
}

// key begins a member that the record type knows; unknown ones that sort before it go
// first. Known names need no escapes.
func (w *writer) key(name string) {
	for len(w.rest) > 0 && w.rest[0].Name <= name {
		if w.rest[0].Name == name {
			w.rest = w.rest[1:] // the typed field wins
			break
		}
		w.unknown()
	}
	w.separate()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
	if !w.compact {
		w.buf = append(w.buf, ' ')
	}
	w.places[w.depth] = place{key: name}
}

func (w *writer) unknown() {
	m := w.rest[0]
	w.rest = w.rest[1:]
	w.separate()
	w.places[w.depth] = place{key: m.Name}
	w.text(m.Name)
	w.buf = append(w.buf, ':')
	if !w.compact {
		w.buf = append(w.buf, ' ')
	}
	w.value(m.Value)
}

// item begins the i-th item of an array. Room is doubled here, because the runtime grows
// large slices by a quarter only, which copies a long history many times.
func (w *writer) item(i int) {
	if cap(w.buf)-len(w.buf) < 1024 {
		w.buf = slices.Grow(w.buf, max(cap(w.buf), 1024))
	}
	w.separate()
	w.places[w.depth] = place{item: i}
}

func (w *writer) text(s string) {
	var ok bool
	start := len(w.buf)
	if w.buf, ok = appendQuoted(w.buf, s); ok {
		return
	}
	if w.replace {
		w.buf, _ = appendQuoted(w.buf[:start], strings.ToValidUTF8(s, "\uFFFD"))
		return
	}
	w.fail(ErrInvalidUTF8)
}

// value writes a free-form value; unset is null.
func (w *writer) value(v Value) {
	switch {
	case v.raw == "":
		w.buf = append(w.buf, "null"...)
	case w.compact:
		w.buf = append(w.buf, v.raw...)
	default:
		w.buf = appendIndented(w.buf, v.raw, w.depth)
	}
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = &EncodeError{Path: w.path(), Err: err}
	}
}

func (w *writer) path() string {
	var out strings.Builder
	for _, p := range w.places[1 : w.depth+1] {
		out.WriteByte('/')
		if p.key == "" {
			out.WriteString(strconv.Itoa(p.item))
		} else {
			out.WriteString(pointerToken(strings.ToValidUTF8(p.key, "\uFFFD")))
		}
	}
	return out.String()
}

func (w *writer) str(key, s string) {
	w.key(key)
	w.text(s)
}

// word writes an enum: the zero value is its default.
func word[E ~string](w *writer, key string, e, fallback E) {
	w.key(key)
	if e == "" {
		e = fallback
	}
	w.text(string(e))
}

func (w *writer) uint(key string, n uint64) {
	w.key(key)
	w.buf = strconv.AppendUint(w.buf, n, 10)
}

func (w *writer) optional(key string, o Object) {
	if o.raw != "" {
		w.key(key)
		w.value(o.Value)
	}
}

// always writes a member that is never left out: a value that was not set is an empty
// object.
func (w *writer) always(key string, v Value) {
	if v.raw == "" {
		v = EmptyObject().Value
	}
	w.key(key)
	w.value(v)
}

// array writes a member that is an array of n items.
func (w *writer) array(key string, n int, write func(i int)) {
	w.key(key)
	w.list(n, write)
}

// list writes an array of n items.
func (w *writer) list(n int, write func(i int)) {
	saved := w.rest
	w.rest = nil
	w.begin('[')
	for i := range n {
		w.item(i)
		write(i)
	}
	w.finish(']')
	w.rest = saved
}
