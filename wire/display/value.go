package display

import (
	"strconv"

	"simplex/state"
	"simplex/wire"
)

// previewOverhead is more than a truncation marker takes beside its preview.
const previewOverhead = 80

// AppendValue appends a display copy of v in at most budget bytes (at least
// previewOverhead). What fits is copied verbatim, unless it nests deeper than a display
// should; else the JSON limits of worker-data.md §8 are applied; and when that does not
// fit either, the whole becomes {"display_truncated":true,"bytes":N,"preview":…} with the
// beginning of the string or of the JSON text. Unset is null.
func AppendValue(dst []byte, v state.Value, budget int) []byte {
	text := v.String()
	if text == "" {
		return append(dst, "null"...)
	}
	if len(text) <= budget && !tooDeep(text, wire.DisplayDepth) {
		return append(dst, text...)
	}
	if text[0] == '{' || text[0] == '[' {
		l := limiter{src: text, dst: dst, end: len(dst) + budget}
		if l.value(1); !l.over && len(l.dst) <= l.end {
			return l.dst
		}
	}
	return appendPreview(dst, text, budget)
}

// appendPreview appends the marker for a value whose compact text is given.
func appendPreview(dst []byte, text string, budget int) []byte {
	if text[0] == '"' {
		return appendCutString(dst, text, budget-previewOverhead)
	}
	dst = appendMarker(dst, len(text))
	n, _ := fit(text, budget-previewOverhead)
	return append(wire.AppendString(append(dst, `,"preview":`...), text[:n]), '}')
}

// appendCutString appends the marker for a quoted string, with a preview of at most n
// bytes, encoded and not.
func appendCutString(dst []byte, quoted string, n int) []byte {
	dst = appendMarker(dst, unquotedLen(quoted))
	dst = append(append(dst, `,"preview":"`...), quotedPrefix(quoted, n, n)...)
	return append(dst, `"}`...)
}

// appendMarker opens a truncation marker.
func appendMarker(dst []byte, size int) []byte {
	return strconv.AppendInt(append(dst, `{"display_truncated":true,"bytes":`...), int64(size), 10)
}

// limiter copies one value under the JSON limits, in one pass over src.
type limiter struct {
	src   string
	pos   int
	dst   []byte
	end   int // dst must not grow beyond
	nodes int
	over  bool
}

// value copies the value at pos, which nests at depth.
func (l *limiter) value(depth int) {
	l.nodes++
	switch l.src[l.pos] {
	case '{', '[':
		if depth > wire.DisplayDepth {
			size := skipValue(l.src, l.pos) - l.pos
			l.dst = append(appendMarker(l.dst, size), '}')
			l.pos += size
		} else if l.src[l.pos] == '{' {
			l.object(depth)
		} else {
			l.array(depth)
		}
	case '"':
		l.string()
	default:
		next := skipScalar(l.src, l.pos)
		l.dst = append(l.dst, l.src[l.pos:next]...)
		l.pos = next
	}
	l.over = l.over || len(l.dst) > l.end
}

func (l *limiter) string() {
	next := skipString(l.src, l.pos)
	quoted := l.src[l.pos:next]
	l.pos = next
	if len(quoted)-2 <= wire.DisplayString || unquotedLen(quoted) <= wire.DisplayString {
		l.dst = append(l.dst, quoted...)
		return
	}
	l.dst = appendCutString(l.dst, quoted, wire.DisplayString)
}

func (l *limiter) array(depth int) {
	l.dst = append(l.dst, '[')
	l.pos++
	shown, omitted := 0, 0
	for l.src[l.pos] != ']' && !l.over {
		if shown == wire.DisplayItems || l.nodes >= wire.DisplayNodes {
			omitted++
			l.pos = skipValue(l.src, l.pos)
		} else {
			l.comma(shown)
			l.value(depth + 1)
			shown++
		}
		l.skipComma()
	}
	if omitted > 0 {
		l.comma(shown)
		l.dst = appendOmitted(l.dst, omitted)
	}
	l.pos++
	l.dst = append(l.dst, ']')
}

func (l *limiter) object(depth int) {
	l.dst = append(l.dst, '{')
	l.pos++
	shown, omitted := 0, 0
	for l.src[l.pos] != '}' && !l.over {
		behind := skipString(l.src, l.pos)
		key := l.src[l.pos:behind]
		l.pos = behind + 1
		if shown == wire.DisplayItems || l.nodes >= wire.DisplayNodes || !showKey(key) {
			omitted++
			l.pos = skipValue(l.src, l.pos)
		} else {
			l.comma(shown)
			l.dst = append(append(l.dst, key...), ':')
			l.value(depth + 1)
			shown++
		}
		l.skipComma()
	}
	if omitted > 0 {
		l.comma(shown)
		l.dst = append(l.dst, `"display_omitted":true,"omitted_items":`...)
		l.dst = strconv.AppendInt(l.dst, int64(omitted), 10)
	}
	l.pos++
	l.dst = append(l.dst, '}')
}

// showKey refuses long keys, and those of the marker itself, which must not come twice.
func showKey(quoted string) bool {
	return quoted != `"display_omitted"` && quoted != `"omitted_items"` &&
		unquotedLen(quoted) <= wire.DisplayKey
}

func (l *limiter) comma(shown int) {
	if shown > 0 {
		l.dst = append(l.dst, ',')
	}
}

func (l *limiter) skipComma() {
	if l.src[l.pos] == ',' {
		l.pos++
	}
}

// appendOmitted appends the marker that stands for n left out entries.
func appendOmitted(dst []byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, `{"display_omitted":true,"omitted_items":`...), int64(n), 10)
	return append(dst, '}')
}
