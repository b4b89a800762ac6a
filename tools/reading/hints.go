package reading

import (
	"fmt"
	"unicode/utf8"

	"simplex/internal/text"
)

// hints say what to do about what cannot be seen.
func hints(sel selection, q query, v view, l limits) []string {
	var out []string
	if v.cut {
		out = append(out, howToGoOn(sel, q, v, l))
	}
	if v.replaced {
		out = append(out, `some bytes are no text and are shown as U+FFFD; see what they are with mode "bytes" and format "hex_escaped"`)
	}
	if q.format != hexEscaped && !likelyText(sel.content, l.probe) {
		out = append(out, `this does not look like a text file; mode "bytes" with format "hex_escaped" shows it byte by byte`)
	}
	return out
}

func howToGoOn(sel selection, q query, v view, l limits) string {
	left := sel.to - v.next
	said := fmt.Sprintf("the output limit of %d bytes was reached and %d bytes of the selection are not shown", l.output, left)
	switch {
	case q.bytes:
		return fmt.Sprintf("%s; go on with start %d and count %d", said, v.next, left)
	case v.whole > 0:
		return fmt.Sprintf("%s; go on with start %d and count %d", said, sel.first+v.whole, sel.lines-v.whole)
	default:
		return fmt.Sprintf(`%s: line %d alone is longer; see the rest of it with mode "bytes" and start %d, or go on with start %d`,
			said, sel.first, v.next, sel.first+1)
	}
}

// likelyText looks at the first bytes of a file: it is no text if they are malformed
// UTF-8 or have control characters that texts do not have. A character that the end of
// the sample cuts is not malformed.
func likelyText(content []byte, probe int) bool {
	sample := content
	if len(content) > probe {
		sample, _ = text.SplitTail(content[:probe])
	}
	if !utf8.Valid(sample) {
		return false
	}
	for _, c := range sample {
		switch {
		case c == '\t', c == '\n', c == '\r', c == '\f':
		case c < 0x20, c == 0x7F:
			return false
		}
	}
	return true
}
