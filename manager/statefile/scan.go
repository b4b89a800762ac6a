package statefile

import (
	"errors"
	"fmt"
	"io"
)

// ErrContent: bytes are not what the file must hold. Its text tells where, never what.
var ErrContent = errors.New("is not valid")

const (
	scanBuffer = 256 << 10
	// maxNesting is what the worker's own decoder takes.
	maxNesting = 10_000
)

// scanner reads JSON byte by byte from a buffer that never grows, whatever the length of
// a string or number. The grammar is RFC 8259's; bytes must be UTF-8, escapes must be
// whole code points, and no object may have a member twice.
type scanner struct {
	r      io.Reader
	buf    []byte
	pos    int
	end    int
	before int64 // bytes before buf
	stack  []byte
	names  []names
	key    []byte // the member name being read, decoded
	inName bool
}

// CheckObject reads one JSON object to the end; a byte order mark before it is allowed.
// Errors wrap ErrContent or are the reader's.
func CheckObject(r io.Reader) error {
	s := &scanner{r: r, buf: make([]byte, scanBuffer)}
	err := s.document()
	if errors.Is(err, ErrContent) {
		return fmt.Errorf("%w near byte %d", err, s.before+int64(s.pos))
	}
	return err
}

func bad(what string) error { return fmt.Errorf("%w: %s", ErrContent, what) }

// fill replaces the used buffer; io.EOF at the end.
func (s *scanner) fill() error {
	s.before += int64(s.end)
	s.pos, s.end = 0, 0
	for {
		n, err := s.r.Read(s.buf)
		if n > 0 {
			s.end = n
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// next gives the next byte and goes past it.
func (s *scanner) next() (byte, error) {
	if s.pos == s.end {
		if err := s.fill(); err != nil {
			return 0, cut(err)
		}
	}
	c := s.buf[s.pos]
	s.pos++
	return c, nil
}

// cut makes the end of the file an error of its content.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return bad("it ends too early")
	}
	return err
}

// token gives the next byte that is no white space and goes past it.
func (s *scanner) token() (byte, error) {
	for {
		for s.pos < s.end {
			c := s.buf[s.pos]
			s.pos++
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

func (s *scanner) document() error {
	c, err := s.token()
	if err == nil && c == 0xef && s.before == 0 && s.pos == 1 {
		if c, err = s.afterMark(); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return cut(err)
	case c != '{':
		return bad("it is not a JSON object")
	}
	if err := s.value(c); err != nil {
		return err
	}
	for len(s.stack) > 0 {
		if err := s.element(); err != nil {
			return err
		}
	}
	switch _, err := s.token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return bad("there is text after the JSON object")
}

func (s *scanner) afterMark() (byte, error) {
	for _, want := range []byte{0xbb, 0xbf} {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		if c != want {
			return 0, bad("it is not JSON")
		}
	}
	return s.token()
}

// The states of an open object or array, the top of the stack.
const (
	objectFirst = '{' // a name or the end
	objectMore  = ',' // a comma or the end
	arrayFirst  = '[' // a value or the end
	arrayMore   = ';' // a comma or the end
)

// value goes past one value, or opens an object or array.
func (s *scanner) value(c byte) error {
	switch {
	case c == '"':
		return s.text()
	case c == '{', c == '[':
		if len(s.stack) == maxNesting {
			return bad("it is nested too deeply")
		}
		s.stack = append(s.stack, c)
		if c == '{' {
			s.openNames()
		}
		return nil
	case c == '-', c >= '0' && c <= '9':
		return s.number(c)
	case c == 't':
		return s.word("rue")
	case c == 'f':
		return s.word("alse")
	case c == 'n':
		return s.word("ull")
	}
	return bad("a value is expected")
}

// element goes past one member or item of the innermost open value, or closes it.
func (s *scanner) element() error {
	top := &s.stack[len(s.stack)-1]
	c, err := s.token()
	if err != nil {
		return cut(err)
	}
	object := *top == objectFirst || *top == objectMore
	if object && c == '}' || !object && c == ']' {
		s.stack = s.stack[:len(s.stack)-1]
		if object {
			s.names = s.names[:len(s.names)-1]
		}
		return nil
	}
	if *top == objectMore || *top == arrayMore {
		if c != ',' {
			return bad("a comma or an end is expected")
		}
		if c, err = s.token(); err != nil {
			return cut(err)
		}
	}
	if !object {
		*top = arrayMore
		return s.value(c)
	}
	*top = objectMore
	if err := s.name(c); err != nil {
		return err
	}
	if c, err = s.token(); err != nil {
		return cut(err)
	}
	return s.value(c)
}

// name goes past a member's name and the colon.
func (s *scanner) name(c byte) error {
	if c != '"' {
		return bad("a member name is expected")
	}
	s.inName, s.key = true, s.key[:0]
	err := s.text()
	s.inName = false
	if err != nil {
		return err
	}
	if !s.addName() {
		return bad("an object has a member twice")
	}
	if c, err = s.token(); err != nil {
		return cut(err)
	}
	if c != ':' {
		return bad("a colon is expected")
	}
	return nil
}

func (s *scanner) word(rest string) error {
	for i := range len(rest) {
		c, err := s.next()
		if err != nil {
			return err
		}
		if c != rest[i] {
			return bad("a value is expected")
		}
	}
	return nil
}
