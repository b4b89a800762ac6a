package text

import "unicode/utf8"

// Prefix is the longest beginning of s that has at most budget bytes and does not end
// inside a character. An invalid byte counts as a character of its own. A budget below
// one gives nothing.
func Prefix[T ~string | ~[]byte](s T, budget int) T {
	if len(s) <= budget {
		return s
	}
	return s[:boundaryBefore(s, max(budget, 0))]
}

// Suffix is the longest end of s that has at most budget bytes and does not begin
// inside a character.
func Suffix[T ~string | ~[]byte](s T, budget int) T {
	if len(s) <= budget {
		return s
	}
	cut := len(s) - max(budget, 0)
	if start := boundaryBefore(s, cut); start != cut {
		_, size := decode(s[start:])
		cut = start + size
	}
	return s[cut:]
}

// SplitTail cuts off an incomplete character at the end of s: held (at most three
// bytes) could become a character with the bytes that follow; whole is the rest. Bytes
// that no continuation can mend are not held back.
func SplitTail[T ~string | ~[]byte](s T) (whole, held T) {
	for back := 1; back < utf8.UTFMax && back <= len(s); back++ {
		at := len(s) - back
		if !utf8.RuneStart(s[at]) {
			continue
		}
		if !fullRune(s[at:]) {
			return s[:at], s[at:]
		}
		break
	}
	return s, s[len(s):]
}

// boundaryBefore is cut, or the start of the valid character that cut would split.
func boundaryBefore[T ~string | ~[]byte](s T, cut int) int {
	for back := 1; back < utf8.UTFMax && back <= cut; back++ {
		start := cut - back
		if !utf8.RuneStart(s[start]) {
			continue
		}
		if _, size := decode(s[start:]); size > back {
			return start
		}
		break
	}
	return cut
}

// decode reads the first character from at most four bytes.
func decode[T ~string | ~[]byte](s T) (rune, int) {
	return utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
}

func fullRune[T ~string | ~[]byte](s T) bool {
	return utf8.FullRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
}
