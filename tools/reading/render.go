package reading

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"simplex/tools/reading/lines"
)

// view is a rendered selection.
type view struct {
	body     []byte
	cut      bool   // something was left out
	replaced bool   // something is shown as U+FFFD
	whole    uint64 // lines that are shown whole, with their terminators
	next     int    // offset in the content of the first byte that is not shown
}

// writer collects a body of at most limit bytes.
type writer struct {
	view
	limit int
}

func render(sel selection, format string, limit int) view {
	w := &writer{limit: limit}
	w.next = sel.from
	switch format {
	case hexEscaped:
		w.hex(sel)
	case lineIndex:
		width := len(strconv.FormatUint(max(sel.first+sel.lines, 1)-1, 10))
		w.byLine(sel, func(number uint64, _, _ int) string {
			return fmt.Sprintf("%*d | ", width, number)
		})
	case byteRange:
		width := len(strconv.Itoa(sel.to))
		w.byLine(sel, func(_ uint64, from, to int) string {
			return fmt.Sprintf("[%*d:%*d] | ", width, from, width, to)
		})
	default:
		w.plain(sel)
	}
	return w.view
}

func (w *writer) plain(sel selection) {
	w.text(sel.content, sel.from, sel.to)
	for begin := sel.from; begin < w.next; {
		_, next := lines.End(sel.content[:sel.to], begin)
		if next > w.next {
			break
		}
		w.whole++
		begin = next
	}
}

// byLine shows each line with a prefix and without its terminator, joined by LF.
func (w *writer) byLine(sel selection, prefix func(number uint64, from, to int) string) {
	begin := sel.from
	for i := range sel.lines {
		end, next := lines.End(sel.content, begin)
		head := prefix(sel.first+i, begin, next)
		if i > 0 {
			head = "\n" + head
		}
		if len(w.body)+len(head) > w.limit {
			w.cut = true
			return
		}
		w.body = append(w.body, head...)
		if w.text(sel.content, begin, end); w.cut {
			return
		}
		w.whole++
		w.next, begin = next, next
	}
}

// hex shows each byte as an escape, and never a part of one.
func (w *writer) hex(sel selection) {
	const digits = "0123456789ABCDEF"
	for w.next = sel.from; w.next < sel.to; w.next++ {
		if len(w.body)+4 > w.limit {
			w.cut = true
			return
		}
		c := sel.content[w.next]
		w.body = append(w.body, '\\', 'x', digits[c>>4], digits[c&15])
	}
}

// text shows content[from:to] by characters, and moves next to the first that does not
// fit. Damaged bytes and NUL, which could not travel, are replaced one by one.
func (w *writer) text(content []byte, from, to int) {
	for w.next = from; w.next < to; {
		r, size := rune(content[w.next]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(content[w.next:to])
		}
		damaged := r == utf8.RuneError && size == 1 || r == 0
		if damaged {
			r = utf8.RuneError
		}
		if len(w.body)+utf8.RuneLen(r) > w.limit {
			w.cut = true
			return
		}
		w.body = utf8.AppendRune(w.body, r)
		w.replaced = w.replaced || damaged
		w.next += size
	}
}
