package lines

// End gives the end of the line that begins at from: its text is b[from:text] and its
// terminator b[text:next]. The last line has none: text and next are len(b).
func End(b []byte, from int) (text, next int) {
	for i := from; i < len(b); i++ {
		if c := b[i]; c > '\r' && c < 0xC2 {
			continue // most bytes
		}
		if n := terminator(b, i); n > 0 {
			return i, i + n
		}
	}
	return len(b), len(b)
}

// Count is the number of lines, at least 1.
func Count(b []byte) int {
	n := 1
	for i := 0; i < len(b); {
		size := terminator(b, i)
		if size == 0 {
			i++
			continue
		}
		n++
		i += size
	}
	return n
}

// Locate gives the number of the line that the byte at offset belongs to, and where
// that line begins. offset may be len(b), which belongs to the last line.
func Locate(b []byte, offset int) (number, begin int) {
	for {
		text, next := End(b, begin)
		if next > offset || text == next {
			return number, begin
		}
		number++
		begin = next
	}
}

// Span gives the bytes b[from:to] of count lines from line first on, as far as there
// are so many, and the number of all lines.
func Span(b []byte, first, count uint64) (from, to int, total uint64) {
	last := first + count
	if last < first {
		last = ^uint64(0)
	}
	from, to = len(b), len(b)
	begin := 0
	for {
		if total == first {
			from = begin
		}
		if total == last {
			to = begin
		}
		text, next := End(b, begin)
		total++
		if text == next {
			return from, max(from, to), total
		}
		begin = next
	}
}

// terminator is the size of the line terminator at i, 0 if there is none.
func terminator(b []byte, i int) int {
	switch c := b[i]; {
	case c == '\n', c == '\v', c == '\f':
		return 1
	case c == '\r':
		if i+1 < len(b) && b[i+1] == '\n' {
			return 2
		}
		return 1
	case c < 0xC2:
		return 0
	case c == 0xC2 && i+1 < len(b) && b[i+1] == 0x85:
		return 2
	case c == 0xE2 && i+2 < len(b) && b[i+1] == 0x80 && (b[i+2] == 0xA8 || b[i+2] == 0xA9):
		return 3
	}
	return 0
}
