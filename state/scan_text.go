package state

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
)

// firstSpecial gives the index, from i on, of the first byte that cannot stand in a JSON
// string as it is (control character, quote, backslash), len(b) if there is none, and
// whether bytes outside ASCII may come before it. It looks at eight bytes at once.
func firstSpecial[T string | []byte](b T, i int) (int, bool) {
	var high uint64
	for ; i+8 <= len(b); i += 8 {
		x := uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
			uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
		high |= x
		quote := x ^ (eachByte * '"')
		slash := x ^ (eachByte * '\\')
		hit := ((quote - eachByte) &^ quote) | ((slash - eachByte) &^ slash) | ((x - eachByte*' ') &^ x)
		if hit &= highBits; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3, high&highBits != 0
		}
	}
	for ; i < len(b); i++ {
		c := b[i]
		high |= uint64(c)
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i, high&highBits != 0
}

// text reads a string whose opening quote is next. The bytes belong to the document, or
// to the scanner's scratch memory when the string had escapes.
func (s *scanner) text() (content []byte, escaped bool) {
	start := s.pos + 1
	end, high := firstSpecial(s.data, start)
	if end < len(s.data) && s.data[end] == '"' {
		content = s.data[start:end]
		s.pos = end + 1
	} else {
		escaped = true
		content, high = s.unescape(start, end, high)
	}
	if s.err == nil && high && !utf8.Valid(content) {
		s.fail("invalid UTF-8 in a string")
	}
	return content, escaped
}

func (s *scanner) unescape(start, end int, high bool) ([]byte, bool) {
	out := s.scratch[:0]
	for {
		out = append(out, s.data[start:end]...)
		s.pos = end
		if end >= len(s.data) || s.data[end] < ' ' {
			s.syntax("control character in a string")
			return nil, false
		}
		if s.data[end] == '"' {
			s.pos++
			s.scratch = out
			return out, high
		}
		if end+1 < len(s.data) && plainEscapes[s.data[end+1]] != 0 {
			out = append(out, plainEscapes[s.data[end+1]])
			s.pos += 2
		} else if out = s.escape(out); s.err != nil {
			return nil, false
		}
		var more bool
		start = s.pos
		end, more = firstSpecial(s.data, start)
		high = high || more
	}
}

// plainEscapes gives what stands for the byte after a backslash; 0 for \u and bad ones.
var plainEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads one escape sequence; the backslash is next.
func (s *scanner) escape(out []byte) []byte {
	if s.pos+1 >= len(s.data) {
		s.pos = len(s.data)
		s.syntax("")
		return nil
	}
	c := s.data[s.pos+1]
	if c == 'u' {
		return s.escapedRune(out)
	}
	c = plainEscapes[c]
	if c == 0 {
		s.syntax("invalid escape in a string")
		return nil
	}
	s.pos += 2
	return append(out, c)
}

func (s *scanner) escapedRune(out []byte) []byte {
	r, ok := s.hex(s.pos)
	if !ok {
		s.syntax("invalid escape in a string")
		return nil
	}
	if utf16.IsSurrogate(r) {
		low, ok := s.hex(s.pos + 6)
		pair := utf16.DecodeRune(r, low)
		if !ok || pair == utf8.RuneError {
			s.syntax("lone surrogate in a string")
			return nil
		}
		s.pos += 12
		return utf8.AppendRune(out, pair)
	}
	s.pos += 6
	return utf8.AppendRune(out, r)
}

// hex reads `\uXXXX` at i.
func (s *scanner) hex(i int) (rune, bool) {
	if i+6 > len(s.data) || s.data[i] != '\\' || s.data[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
