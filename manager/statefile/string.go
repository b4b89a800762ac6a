package statefile

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// plainEnd gives the length of the beginning of p without quote, backslash, control
// character or byte of a longer code point, eight bytes at a time.
func plainEnd(p []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		hit := (w | (w - ones*' ') | (quote - ones) | (slash - ones)) & high
		if hit != 0 {
			// The subtractions borrow from left to right, so the first hit is a true one.
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// text goes past a string whose opening quote was read.
func (s *scanner) text() error {
	for {
		if !s.inName {
			s.skipText()
		} else {
			n := plainEnd(s.buf[s.pos:s.end])
			s.key = append(s.key, s.buf[s.pos:s.pos+n]...)
			s.pos += n
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		switch {
		case c == '"':
			return nil
		case c == '\\':
			err = s.escape()
		case c < ' ':
			err = bad("a control character is in a string")
		default:
			s.keep(c)
			if c >= utf8.RuneSelf {
				err = s.codePoint(c)
			}
		}
		if err != nil {
			return err
		}
	}
}

// skipText goes past the part of a value that is plain or has short escapes only, as far
// as the buffer reaches.
func (s *scanner) skipText() {
	p := s.buf[s.pos:s.end]
	i := 0
	for {
		i += plainEnd(p[i:])
		if i+1 >= len(p) || p[i] != '\\' {
			break
		}
		if !shortEscape(p[i+1]) {
			break
		}
		i += 2
	}
	s.pos += i
}

func shortEscape(c byte) bool {
	switch c {
	case 'n', '"', '\\', 't', 'r', '/', 'b', 'f':
		return true
	}
	return false
}

// keep collects a member's name.
func (s *scanner) keep(p ...byte) {
	if s.inName {
		s.key = append(s.key, p...)
	}
}

// codePoint goes past the rest of a code point that begins with c.
func (s *scanner) codePoint(c byte) error {
	var p [utf8.UTFMax]byte
	p[0] = c
	n := 1
	for ; n < len(p) && !utf8.FullRune(p[:n]); n++ {
		next, err := s.next()
		if err != nil {
			return err
		}
		p[n] = next
		s.keep(next)
	}
	if r, size := utf8.DecodeRune(p[:n]); r == utf8.RuneError && size <= 1 || size != n {
		return bad("it is not UTF-8")
	}
	return nil
}

func (s *scanner) escape() error {
	c, err := s.next()
	if err != nil {
		return err
	}
	switch c {
	case '"', '\\', '/':
		s.keep(c)
	case 'b':
		s.keep('\b')
	case 'f':
		s.keep('\f')
	case 'n':
		s.keep('\n')
	case 'r':
		s.keep('\r')
	case 't':
		s.keep('\t')
	case 'u':
		return s.unicode()
	default:
		return bad("a string has an unknown escape")
	}
	return nil
}

// unicode goes past \u escapes; surrogates must come in pairs.
func (s *scanner) unicode() error {
	r, err := s.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		for _, want := range []byte(`\u`) {
			c, err := s.next()
			if err != nil {
				return err
			}
			if c != want {
				return bad("half a surrogate pair is in a string")
			}
		}
		low, err := s.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return bad("half a surrogate pair is in a string")
		}
	}
	if s.inName {
		s.key = utf8.AppendRune(s.key, r)
	}
	return nil
}

func (s *scanner) hex() (rune, error) {
	r := rune(0)
	for range 4 {
		c, err := s.next()
		if err != nil {
			return 0, err
		}
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, bad("a string has a broken escape")
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}

// number goes past a number that begins with c.
func (s *scanner) number(c byte) error {
	if c == '-' {
		var err error
		if c, err = s.next(); err != nil {
			return err
		}
	}
	if c < '0' || c > '9' {
		return bad("a number is broken")
	}
	if c != '0' {
		if _, err := s.digits(); err != nil {
			return err
		}
	}
	if s.have('.') {
		if err := s.someDigits(); err != nil {
			return err
		}
	}
	if s.have('e') || s.have('E') {
		if !s.have('+') {
			s.have('-')
		}
		return s.someDigits()
	}
	return nil
}

// have goes past c if it comes next. An I/O error shows again at the next read.
func (s *scanner) have(c byte) bool {
	if s.pos == s.end && s.fill() != nil {
		return false
	}
	if s.buf[s.pos] != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) someDigits() error {
	n, err := s.digits()
	if err == nil && n == 0 {
		err = bad("a number is broken")
	}
	return err
}

func (s *scanner) digits() (n int, err error) {
	for {
		for s.pos < s.end && s.buf[s.pos] >= '0' && s.buf[s.pos] <= '9' {
			s.pos++
			n++
		}
		if s.pos < s.end {
			return n, nil
		}
		if err := s.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
	}
}
