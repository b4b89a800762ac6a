package display

import (
	"unicode/utf8"

	"simplex/wire"
)

// fit is the number of leading bytes of s whose JSON encoding, quotes not counted, takes
// at most budget bytes; the cut is between characters. used is what they take.
func fit(s string, budget int) (n, used int) {
	for n < len(s) {
		size, cost := 1, 1
		switch c := s[n]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			cost = 2
		case c < ' ':
			cost = 6
		case c >= utf8.RuneSelf:
			_, size = utf8.DecodeRuneInString(s[n:])
			cost = max(size, 3) // what is no UTF-8 becomes U+FFFD
			if size > 1 {
				cost = size
			}
		}
		if used+cost > budget {
			break
		}
		n += size
		used += cost
	}
	return n, used
}

// appendBounded appends s as a JSON string of at most limit encoded bytes.
func appendBounded(dst []byte, s string, limit int) []byte {
	n, _ := fit(s, limit)
	return wire.AppendString(dst, s[:n])
}
