package statefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// chunks calls use with the file's content piece by piece, without a leading byte order
// mark. use tells how much of the piece it used; the rest comes again with more, or with
// last.
func chunks(r io.Reader, use func(p []byte, last bool) (int, error)) error {
	buf := make([]byte, scanBuffer)
	have, first := 0, true
	for {
		n, err := r.Read(buf[have:])
		have += n
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		if first && have < len(byteOrderMark) && !last {
			continue
		}
		start := 0
		if first && bytes.HasPrefix(buf[:have], byteOrderMark) {
			start = len(byteOrderMark)
		}
		first = false
		used, err := use(buf[start:have], last)
		if err != nil || last {
			return err
		}
		have = copy(buf, buf[start+used:have])
	}
}

// CheckText reads UTF-8 to the end. Errors wrap ErrContent or are the reader's.
func CheckText(r io.Reader) error {
	return chunks(r, func(p []byte, last bool) (int, error) {
		n := whole(p, last)
		if !utf8.Valid(p[:n]) {
			return 0, bad("it is not UTF-8")
		}
		return n, nil
	})
}

// whole gives the length of p without a code point that is cut off at its end.
func whole(p []byte, last bool) int {
	if last {
		return len(p)
	}
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				break
			}
			return i
		}
	}
	return len(p)
}

// CopyObject copies checked JSON without the white space between its tokens, so that
// it fits on one line; every token keeps its spelling.
func CopyObject(w io.Writer, r io.Reader) error {
	inText, escaped := false, false
	return chunks(r, func(p []byte, _ bool) (int, error) {
		n := 0 // kept at the beginning of p
		for i := 0; i < len(p); {
			start := i
			switch {
			case escaped:
				escaped = false
				i++
			case inText:
				i += textEnd(p[i:])
				if i < len(p) {
					inText, escaped = p[i] != '"', p[i] == '\\'
					i++
				}
			default:
				for i < len(p) && p[i] != '"' && !blank(p[i]) {
					i++
				}
				if i < len(p) && p[i] == '"' {
					inText = true
					i++
				}
			}
			n += copy(p[n:], p[start:i])
			for !inText && i < len(p) && blank(p[i]) {
				i++
			}
		}
		_, err := w.Write(p[:n])
		return len(p), err
	})
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// textEnd gives the length of the beginning of p up to the closing quote, short escapes
// included; it stops at a backslash that it cannot judge alone.
func textEnd(p []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for i+8 <= len(p) {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		hit := ((quote-ones)&^quote | (slash-ones)&^slash) & high
		if hit == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		if p[i] == '"' || i+1 == len(p) {
			return i
		}
		i += 2 // whatever is escaped ends no string
	}
	for i < len(p) && p[i] != '"' && p[i] != '\\' {
		i++
	}
	return min(i, len(p))
}

// CopyText copies checked UTF-8 as one JSON string.
func CopyText(w io.Writer, r io.Reader) error {
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	out := make([]byte, 0, scanBuffer)
	err := chunks(r, func(p []byte, last bool) (int, error) {
		n := whole(p, last)
		out = out[:0]
		for i := 0; i < n; {
			if end := plainEnd(p[i:n]); end > 0 {
				out = append(out, p[i:i+end]...)
				i += end
				continue
			}
			out = appendEscaped(out, p[i])
			i++
		}
		_, err := w.Write(out)
		return n, err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, `"`)
	return err
}

func appendEscaped(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch {
	case c == '"', c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	case c < ' ':
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
	return append(dst, c) // a byte of a longer code point
}
