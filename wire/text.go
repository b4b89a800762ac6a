package wire

import "unicode/utf8"

// cutText is the longest prefix of s of at most n bytes that ends between characters.
func cutText(s string, n int) string {
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

// clipWord bounds a word from outside before it is quoted in a message.
func clipWord(s string) string { return cutText(s, 64) }
