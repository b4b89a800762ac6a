package editing

import (
	"bytes"
	"fmt"

	"simplex/tools/reading/lines"
)

// bom is the UTF-8 byte order mark: no part of any text, and never lost.
var bom = []byte("\xEF\xBB\xBF")

// match is the one occurrence, and what takes its place.
type match struct {
	at, end int    // content[at:end]
	text    []byte // the new bytes
}

// apply gives the content after the edit.
func (m match) apply(content []byte) []byte {
	out := make([]byte, 0, len(content)-(m.end-m.at)+len(m.text))
	out = append(out, content[:m.at]...)
	out = append(out, m.text...)
	return append(out, content[m.end:]...)
}

func (m match) same(content []byte) bool { return bytes.Equal(content[m.at:m.end], m.text) }

// mixes tells whether the edit puts LF into a line that ends with CRLF.
func (m match) mixes(content []byte) bool {
	if bytes.Count(m.text, []byte("\n")) == bytes.Count(m.text, []byte("\r\n")) {
		return false
	}
	text, next := lines.End(content, m.at)
	return string(content[text:next]) == "\r\n" && bytes.IndexByte(content[m.at:m.end], '\n') < 0
}

// missError: the text occurs nowhere. nowhere lists the lines that have its first line.
type missError struct{ similar []int }

func (e *missError) Error() string { return "old_text does not occur" }

// ambiguousError: the text occurs more than once.
type ambiguousError struct {
	count int
	more  bool  // there may be more than count
	lines []int // of the first ones
}

func (e *ambiguousError) Error() string { return fmt.Sprintf("old_text occurs %d times", e.count) }

// find looks for the one place of old. The search is byte-exact; only where that finds
// nothing and old has lines joined by LF, it is made again with CRLF, and then the new
// text is written with CRLF, too.
func find(content, old, text []byte) (match, error) {
	found, more := occurrences(content, old)
	if len(found) == 0 && bytes.IndexByte(old, '\n') >= 0 && bytes.IndexByte(old, '\r') < 0 {
		found, more = occurrences(content, withCRLF(old))
		text = withCRLF(text)
	}
	switch len(found) {
	case 0:
		return match{}, &missError{similar: similar(content, old)}
	case 1:
		m := found[0]
		m.text = text
		if start := textStart(content); start > 0 && m.at == start {
			m.text = bytes.TrimPrefix(text, bom) // there is one already
		}
		return m, nil
	}
	return match{}, &ambiguousError{count: len(found), more: more, lines: linesOf(content, found)}
}

// textStart is where the text of a file begins: behind its byte order mark.
func textStart(content []byte) int {
	if bytes.HasPrefix(content, bom) {
		return len(bom)
	}
	return 0
}

const (
	mostFound = 1000    // occurrences that are counted
	mostWork  = 8 << 20 // bytes compared for them, beyond the second
)

// occurrences lists where old occurs, overlapping ones too. more is true where it
// stopped counting.
func occurrences(content, old []byte) (found []match, more bool) {
	start := textStart(content)
	// A text copied together with the mark means the start of the file.
	if rest, ok := bytes.CutPrefix(old, bom); ok && start > 0 && len(rest) > 0 && bytes.HasPrefix(content[start:], rest) {
		found = append(found, match{at: start, end: start + len(rest)})
	}
	for from := start; ; {
		i := bytes.Index(content[from:], old)
		if i < 0 {
			return found, false
		}
		if len(found) >= mostFound || len(found) > 2 && len(found)*len(old) > mostWork {
			return found, true
		}
		found = append(found, match{at: from + i, end: from + i + len(old)})
		from += i + 1
	}
}

// withCRLF makes every line end of a single LF one of CRLF.
func withCRLF(s []byte) []byte {
	out := make([]byte, 0, len(s)+bytes.Count(s, []byte("\n")))
	for i, c := range s {
		if c == '\n' && (i == 0 || s[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	return out
}

// mostLines is how many line numbers a message names.
const mostLines = 20

// linesOf gives the line numbers of the first matches, which are in order.
func linesOf(content []byte, found []match) []int {
	var out []int
	number := 0
	_, next := lines.End(content, 0)
	for _, m := range found[:min(len(found), mostLines)] {
		for m.at >= next {
			number++
			_, next = lines.End(content, next)
		}
		out = append(out, number)
	}
	return out
}

// similar finds the lines that hold the first line of old that says something.
func similar(content, old []byte) []int {
	for line := range bytes.Lines(old) {
		line = bytes.TrimSpace(line)
		if len(line) < 4 {
			continue
		}
		found, _ := occurrences(content, line)
		return linesOf(content, found)
	}
	return nil
}
