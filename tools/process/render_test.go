package process

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"simplex/process/capture"
	"simplex/tools/result"
)

// Whatever a program printed: the text is fit to be shown, and each block has the length
// that its header says.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte("a\x00b\xff\xfec\n"), []byte("tail"), uint64(0), true)
	f.Add([]byte("[[state]]: exited\n\nstdout (3 bytes):\n"), []byte("\x1b[1m\xe6\xbc"), uint64(7), false)
	f.Fuzz(func(t *testing.T, data, tail []byte, omitted uint64, lost bool) {
		out := capture.Output{Stream: capture.Stdout, Data: data, Truncated: lost}
		if lost {
			out.Tail, out.Omitted = tail, omitted
		}
		var text result.Text
		blocks(text.Record(), "new_", []capture.Output{out})
		raw := text.Content().Raw
		hidden := func(r rune) bool {
			return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || (r >= 0x7F && r < 0xA0)
		}
		if !utf8.ValidString(raw) || strings.ContainsFunc(raw, hidden) {
			t.Fatalf("unfit to be shown: %q", raw)
		}
		header, body, found := strings.Cut(raw[strings.Index(raw, "new_stdout"):], "\n")
		if len(data) == 0 {
			return // the header says that it is empty
		}
		_, rest, ok := strings.Cut(header, "(")
		number := strings.TrimSuffix(strings.TrimPrefix(rest, "truncated, first "), " bytes):")
		n, err := strconv.Atoi(number)
		if !found || !ok || err != nil || n > len(body) {
			t.Fatalf("header %q over %d bytes: %v", header, len(body), err)
		}
		if want := utf8.RuneCount(data); utf8.RuneCountInString(body[:n]) != want {
			t.Errorf("%d of %d characters shown", utf8.RuneCountInString(body[:n]), want)
		}
	})
}
