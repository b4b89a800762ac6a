package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

const tabMessage = "a tab is used as indentation; YAML wants spaces"

// lookBack bounds how many bytes are read again to find where an unfinished construct
// began. Only documents that are refused anyway come here.
const lookBack = 256 << 10

// syntax gives a library error the line a person would look at. The library's own
// number is that of the enclosing construct, is missing for the first line and is
// sometimes off by one, so the place is found by reading again byte by byte.
func (c *converter) syntax(err error) error {
	line, start := c.badLine()
	blank := leadingBlank(lineText(c.raw, line))
	if bytes.IndexByte(blank, '\t') >= 0 {
		return c.fail(line, tabMessage)
	}
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			msg = after
		}
	}
	if strings.HasPrefix(msg, "unknown anchor") { // the one message that quotes the text, which may be a password
		msg = "an alias (*) names an unknown anchor; quote the value if it is text"
	}
	if start < line {
		msg += fmt.Sprintf(" (in what begins in line %d)", start)
	}
	return c.fail(line, "%s", msg)
}

// badLine gives the line where the reader noticed the error and the one where the
// broken construct begins. Both are the latter where the reader had to go on too far.
func (c *converter) badLine() (line, start int) {
	noticed, ended, bad := noticedAt(c.raw)
	if !bad {
		return 1, 1
	}
	start = noticed
	budget := lookBack
	for good := noticed - 1; good >= 0 && budget > 0; good-- {
		head := firstLines(c.raw, good)
		budget -= len(head)
		if _, _, bad := noticedAt(head); !bad {
			start = good + 1
			break
		}
	}
	if ended || noticed-start <= 1 || c.commentsOnly(start+1, noticed) {
		return start, start
	}
	return noticed, start
}

// commentsOnly tells whether lines from..to hold nothing but comments.
func (c *converter) commentsOnly(from, to int) bool {
	for ; from < to; from++ {
		text := bytes.TrimSpace(lineText(c.raw, from))
		if len(text) > 0 && text[0] != '#' {
			return false
		}
	}
	return true
}

// noticedAt parses raw and tells in which line the reader stood when it refused it,
// and whether it had reached the end by then.
func noticedAt(raw []byte) (line int, ended, bad bool) {
	r := &byteReader{raw: raw}
	dec := yaml.NewDecoder(r)
	for {
		var n yaml.Node
		err := decodeNode(dec, &n)
		if errors.Is(err, io.EOF) {
			return 0, false, false
		}
		if err != nil {
			return lineOf(raw, max(r.pos-1, 0)), r.ended, true
		}
	}
}

// byteReader hands out one byte at a time, so that its position is the parser's.
type byteReader struct {
	raw   []byte
	pos   int
	ended bool
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.pos == len(r.raw) {
		r.ended = true
		return 0, io.EOF
	}
	p[0] = r.raw[r.pos]
	r.pos++
	return 1, nil
}

// lineOf gives the 1-based line of the byte at pos.
func lineOf(raw []byte, pos int) int {
	return 1 + bytes.Count(raw[:pos], []byte{'\n'})
}

func invalidLine(raw []byte) int {
	line := 1
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		raw = raw[size:]
	}
	return line
}

// firstLines gives the first n lines.
func firstLines(raw []byte, n int) []byte {
	end := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(raw[end:], '\n')
		if i < 0 {
			return raw
		}
		end += i + 1
	}
	return raw[:end]
}

func lineText(raw []byte, line int) []byte {
	rest := raw[len(firstLines(raw, line-1)):]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i]
	}
	return rest
}

func leadingBlank(line []byte) []byte {
	return line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
}
