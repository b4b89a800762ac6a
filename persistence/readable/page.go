package readable

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"simplex/state"
)

// page writes Markdown blocks. After the first error it writes nothing more.
type page struct {
	out    *bufio.Writer
	limits Limits
	place  string // the heading under which it writes, for errors
	err    error
}

func newPage(w io.Writer, limits Limits) *page {
	return &page{out: bufio.NewWriter(w), limits: limits}
}

// finish hands out what is buffered and gives the first error.
func (p *page) finish() error {
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}

func (p *page) put(pieces ...string) {
	for _, s := range pieces {
		if p.err == nil {
			_, p.err = p.out.WriteString(s)
		}
	}
}

// heading opens a part of the page. The title is the page's own.
func (p *page) heading(level int, title string) {
	p.place = title
	if level > 1 {
		p.put("\n")
	}
	p.put(strings.Repeat("#", level), " ", title, "\n")
}

// note is one line of the page's own words.
func (p *page) note(line string) { p.put("\n", line, "\n") }

// list is a run of items that hold short words of known spelling.
func (p *page) list(items ...item) {
	p.put("\n")
	for _, i := range items {
		p.valid(i.label, i.value)
		p.put("- ", i.label, ": ", oneLine(i.value), "\n")
	}
}

type item struct{ label, value string }

// oneLine keeps a word that came from elsewhere from breaking out of its list.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func (p *page) valid(label, s string) {
	if p.err == nil && !utf8.ValidString(s) {
		p.err = fmt.Errorf("readable export: %s, %s: %w", p.place, label, state.ErrInvalidUTF8)
	}
}

// text is a labelled block of text; nothing when it is empty.
func (p *page) text(label, s string) {
	p.valid(label, s)
	if s == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	p.put("\n**", label, "**\n\n", fence, "text\n", s)
	if s[len(s)-1] != '\n' {
		p.put("\n")
	}
	p.put(fence, "\n")
}

// json is a labelled preview; nothing when the value is unset.
func (p *page) json(label string, v state.Value) {
	if !v.IsSet() || p.err != nil {
		return
	}
	lines, lost := previewOf(v, p.limits)
	fence := strings.Repeat("`", max(3, longestRun(lines)+1))
	p.put("\n**", label, "**\n\n", fence, "json\n", string(lines), "\n", fence, "\n")
	if lost > 0 {
		p.note("... [" + strconv.Itoa(lost) + " bytes omitted] (the block above was cut at " + strconv.Itoa(p.limits.Block) + " bytes)")
	}
}

// longestRun is the length of the longest run of backticks.
func longestRun[T string | []byte](s T) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
