package editing

import (
	"fmt"
	"strconv"
	"strings"

	"simplex/internal/text"
	"simplex/tools/reading/lines"
)

const (
	shownBytes = 512 // of one line
	focusLead  = 128 // before the place of interest in a longer line
	halfRows   = 24  // at each end of a longer preview
)

// approach is the way to the place of an edit: the line it begins in, and the lines
// before that one which the preview shows. Both sides of an edit have it in common.
type approach struct {
	number, begin int   // of the line
	lead          []row // up to as many as the context
}

func approachTo(content []byte, at, context int) approach {
	var a approach
	for {
		end, next := lines.End(content, a.begin)
		if next > at || end == next {
			return a
		}
		if a.lead = append(a.lead, row{' ', a.number, textBegin(content, a.begin), end}); len(a.lead) > context {
			a.lead = a.lead[1:]
		}
		a.number, a.begin = a.number+1, next
	}
}

// textBegin is where the text of the line that begins at begin does: behind the mark.
func textBegin(content []byte, begin int) int { return max(begin, textStart(content)) }

// view is one side of an edit as the preview shows it: from the line of the approach
// on, the lines of content up to offset to, which are whole, with marker, and the lines
// around them.
type view struct {
	approach
	content []byte
	to      int
	focus   int // offset of the change
	marker  byte
	context int
}

// views shows the lines that the edit touches, before and after. Where the change ends
// inside a line, the rest of that line belongs to them.
func (o *outcome) views(way approach) (was, is view) {
	end := o.at + len(o.text)
	was = view{way, o.before, o.end, o.at, '-', o.context}
	is = view{way, o.after, end, o.at, '+', o.context}
	if o.status == unchanged {
		was.marker, is.marker = '=', '='
	}
	beginWas, endWas := was.lineOf(o.end)
	beginIs, endIs := is.lineOf(end)
	if beginWas != o.end || beginIs != end {
		was.to, is.to = endWas, endIs
	}
	return was, is
}

// lineOf gives begin and end of the line with the byte at offset, terminator included.
func (v view) lineOf(offset int) (begin, end int) {
	_, begin = lines.Locate(v.content[v.begin:], offset-v.begin)
	begin += v.begin
	_, end = lines.End(v.content, begin)
	return begin, end
}

// row is one line of the preview.
type row struct {
	marker     byte
	number     int
	begin, end int // of the line's text
}

// rows collects the lines; left out are those between the ends of a long list.
type rows struct {
	head, tail []row
	total      int
}

func (r *rows) add(one row) {
	r.total++
	if len(r.head) < 2*halfRows {
		r.head = append(r.head, one)
		return
	}
	if r.tail = append(r.tail, one); len(r.tail) >= 100*halfRows {
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-halfRows:]...)
	}
}

// shown gives the first rows and the last ones; the latter only where some are left
// out between them.
func (r *rows) shown() (first, last []row) {
	if r.total <= 2*halfRows {
		return r.head, nil
	}
	all := append(r.head[halfRows:], r.tail...)
	return r.head[:halfRows], all[len(all)-halfRows:]
}

// collect finds the rows of the view.
func (v view) collect() *rows {
	out := &rows{}
	for _, one := range v.lead {
		out.add(one)
	}
	more := v.context
	for number, begin := v.number, v.begin; ; number++ {
		end, next := lines.End(v.content, begin)
		one := row{v.marker, number, textBegin(v.content, begin), end}
		if begin >= v.to {
			// The empty line behind the last terminator says nothing.
			if more == 0 || begin == len(v.content) && begin > 0 {
				return out
			}
			more--
			one.marker = ' '
		}
		out.add(one)
		if end == next {
			return out
		}
		begin = next
	}
}

// render gives the rows as text; cut is true where something is left out.
func (v view) render() (out string, cut bool) {
	collected := v.collect()
	first, last := collected.shown()
	width := 1
	for _, list := range [][]row{first, last} {
		if len(list) > 0 {
			width = max(width, len(strconv.Itoa(list[len(list)-1].number)))
		}
	}
	var b strings.Builder
	write := func(list []row) {
		for _, one := range list {
			shown, short := v.line(one)
			cut = cut || short
			fmt.Fprintf(&b, "%c %*d | %s\n", one.marker, width, one.number, shown)
		}
	}
	write(first)
	if last != nil {
		cut = true
		fmt.Fprintf(&b, "! %*s | %d lines are not shown\n", width, "", collected.total-2*halfRows)
		write(last)
	}
	return b.String(), cut
}

// line shows the text of a row, of a long one the part around the change.
func (v view) line(r row) (shown string, cut bool) {
	raw := v.content[r.begin:r.end]
	before := 0
	if column := v.focus - r.begin; r.number == v.number && len(raw) > shownBytes && column > focusLead {
		before = len(text.Prefix(raw, min(column, len(raw))-focusLead))
	}
	part := text.Prefix(raw[before:], shownBytes)
	after := len(raw) - before - len(part)
	shown = strings.ReplaceAll(text.ToValid(string(part)), "\x00", "\uFFFD")
	if before > 0 {
		shown = fmt.Sprintf("[%d bytes skipped] %s", before, shown)
	}
	if after > 0 {
		shown += fmt.Sprintf(" [%d bytes more]", after)
	}
	return shown, before > 0 || after > 0
}
