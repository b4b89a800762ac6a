package display

import "strings"

// The scanners below walk the text of a state.Value, which is known to be valid, compact
// JSON; they need no buffer and allocate nothing.

// skipString gives the index behind the string that begins at s[i].
func skipString(s string, i int) int {
	for j := i + 1; ; j++ {
		j += strings.IndexByte(s[j:], '"')
		slashes := 0
		for s[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1
		}
	}
}

// skipValue gives the index behind the value that begins at s[i].
func skipValue(s string, i int) int {
	depth := 0
	for {
		switch s[i] {
		case '"':
			i = skipString(s, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
		default:
			i = skipScalar(s, i)
		}
		if depth == 0 {
			return i
		}
	}
}

func skipScalar(s string, i int) int {
	if end := strings.IndexAny(s[i:], ",]}"); end >= 0 {
		return i + end
	}
	return len(s)
}

// unquotedLen is the number of bytes of the string whose quoted text is q.
func unquotedLen(q string) int {
	n := len(q) - 2
	for i := 1; i < len(q)-1; {
		next := strings.IndexByte(q[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		size := escapeLen(q, i)
		n -= size - 1 // escapes in compact text stand for ASCII characters
		i += size
	}
	return n
}

func escapeLen(q string, i int) int {
	if q[i+1] == 'u' {
		return 6
	}
	return 2
}

// quotedPrefix is the longest piece of the quoted text q, from behind its first quote,
// that stands for at most n bytes and takes at most limit; the cut is between characters.
func quotedPrefix(q string, n, limit int) string {
	i := 1
	for i < len(q)-1 {
		size, plain := 1, 1
		switch c := q[i]; {
		case c == '\\':
			size = escapeLen(q, i)
		case c >= 0xF0:
			size, plain = 4, 4
		case c >= 0xE0:
			size, plain = 3, 3
		case c >= 0xC0:
			size, plain = 2, 2
		}
		if plain > n || size > limit {
			break
		}
		i += size
		n -= plain
		limit -= size
	}
	return q[1:i]
}

// tooDeep tells whether the text nests deeper than limit.
func tooDeep(s string, limit int) bool {
	depth := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			i = skipString(s, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > limit {
			return true
		}
		i++
	}
	return false
}
