package state

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendQuoted appends s as a JSON string: only quotes, backslashes and control
// characters are escaped. It is false for invalid UTF-8, which is copied as it is.
func appendQuoted[T string | []byte](dst []byte, s T) ([]byte, bool) {
	dst = append(dst, '"')
	anyHigh := false
	for i := 0; ; {
		n, high := firstSpecial(s, i)
		anyHigh = anyHigh || high
		dst = append(dst, s[i:n]...)
		if n == len(s) {
			break
		}
		dst = appendEscape(dst, s[n])
		i = n + 1
	}
	return append(dst, '"'), !anyHigh || validUTF8(s)
}

func validUTF8[T string | []byte](s T) bool {
	switch s := any(s).(type) {
	case string:
		return utf8.ValidString(s)
	case []byte:
		return utf8.Valid(s)
	}
	return false
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// unquote gives the text of a canonical JSON string.
func unquote(quoted string) string {
	inner := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	s := scanner{data: []byte(quoted)}
	content, _ := s.text()
	return string(content)
}

// FloatValue is the JSON number of f: shortest digits, always with a fraction or an
// exponent (`1.0`). NaN and infinities are ErrNotFinite.
func FloatValue(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, ErrNotFinite
	}
	format := byte('f')
	if size := math.Abs(f); f != 0 && (size < 1e-4 || size >= 1e15) {
		format = 'e'
	}
	out := strconv.AppendFloat(nil, f, format, -1, 64)
	if format == 'f' && bytes.IndexByte(out, '.') < 0 {
		out = append(out, ".0"...)
	}
	return Value{string(out)}, nil
}

// UintValue is the JSON integer n.
func UintValue(n uint64) Value { return Value{strconv.FormatUint(n, 10)} }

// BoolValue is true or false.
func BoolValue(b bool) Value { return Value{strconv.FormatBool(b)} }

// NullValue is JSON null, which is set, unlike the zero Value.
func NullValue() Value { return Value{"null"} }

// appendIndented appends a canonical value as it stands in a document, where the line it
// begins on is indented by depth levels.
func appendIndented(dst []byte, raw string, depth int) []byte {
	if raw == "" {
		return append(dst, "null"...)
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			dst = append(dst, c)
			if raw[i+1] == c+2 { // '}' and ']' are two after their opening bytes
				dst = append(dst, c+2)
				i++
				break
			}
			depth++
			dst = appendLine(dst, depth)
		case '}', ']':
			depth--
			dst = append(appendLine(dst, depth), c)
		case ',':
			dst = appendLine(append(dst, ','), depth)
		case ':':
			dst = append(dst, ':', ' ')
		case '"':
			end := stringEnd(raw, i)
			dst = append(dst, raw[i:end]...)
			i = end
			continue
		default:
			dst = append(dst, c)
		}
		i++
	}
	return dst
}

const blanks = "\n                                                                "

func appendLine(dst []byte, depth int) []byte {
	n := 2 * depth
	if n < len(blanks) {
		return append(dst, blanks[:n+1]...)
	}
	dst = append(dst, '\n')
	for ; n > 0; n -= 64 {
		dst = append(dst, blanks[1:1+min(n, 64)]...)
	}
	return dst
}

// stringEnd gives the index after the string that begins at i of canonical text.
func stringEnd(raw string, i int) int {
	for i++; ; {
		n := strings.IndexByte(raw[i:], '"')
		i += n + 1
		back := 0
		for raw[i-2-back] == '\\' {
			back++
		}
		if back%2 == 0 {
			return i
		}
	}
}
