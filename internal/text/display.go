package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ToValid is s with every byte that is no UTF-8 replaced by U+FFFD, one for each byte.
func ToValid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*len(s)/8)
	for _, r := range s {
		b.WriteRune(r) // ranging gives U+FFFD for each invalid byte
	}
	return b.String()
}

// Display is s as it may be shown to a person or a model: invalid bytes and control
// characters (C0, DEL, C1) become U+FFFD, one for each; TAB, LF and CR stay.
func Display(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*len(s)/8)
	for _, r := range s {
		if hidden(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// clean tells whether Display would change nothing.
func clean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, hidden) < 0
}
