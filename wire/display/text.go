package display

import (
	"encoding/json/jsontext"
	"strings"
	"unicode/utf8"
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

// cut is the longest prefix of s of at most n bytes that ends between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := range min(n, utf8.UTFMax) {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n] // no UTF-8 at all
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// appendBounded appends s as a JSON string of at most limit encoded bytes.
func appendBounded(dst []byte, s string, limit int) []byte {
	n, _ := fit(s, limit)
	return appendString(dst, s[:n])
}
