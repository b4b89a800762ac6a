package reading

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

// checkRender holds a rendering against what must be true of every one.
func checkRender(t fatal, content string, start, count uint64, format string, limit int) {
	t.Helper()
	q := query{bytes: format == hexEscaped, start: start, count: count, format: format}
	sel, err := choose([]byte(content), q)
	if err != nil {
		return
	}
	v := render(sel, format, limit)
	full := render(sel, format, 1<<30)
	switch {
	case len(v.body) > limit:
		t.Fatalf("%d bytes over the limit %d", len(v.body), limit)
	case !utf8.Valid(v.body) || strings.ContainsRune(string(v.body), 0):
		t.Fatalf("unfit to be shown: %q", v.body)
	case !strings.HasPrefix(string(full.body), string(v.body)):
		t.Fatalf("%q is no beginning of %q", v.body, full.body)
	case v.cut != (len(v.body) < len(full.body)):
		t.Fatalf("cut is %v: %q of %q", v.cut, v.body, full.body)
	case full.next != sel.to, v.next < sel.from, v.next > sel.to:
		t.Fatalf("next is %d, %d of [%d:%d]", v.next, full.next, sel.from, sel.to)
	case v.whole > sel.lines, v.cut && !q.bytes && v.whole == sel.lines:
		t.Fatalf("%d of %d lines are whole, cut %v", v.whole, sel.lines, v.cut)
	case v.cut && limit-len(v.body) >= 64:
		t.Fatalf("cut with %d bytes left", limit-len(v.body))
	}
	if format == plain && !full.replaced && string(full.body) != content[sel.from:sel.to] {
		t.Fatalf("plain is not as it is: %q", full.body)
	}
	if len(hints(sel, q, v, limits{output: limit, probe: 100})) == 0 && v.cut {
		t.Fatalf("no hint")
	}
}

func TestRenderKeepsItsPromises(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{"a", "é", "漢", "😀", "\n", "\r", "\r\n", "\v", "\u0085", "\u2028", "\xff", "\xe2\x80", "\x00"})
	rapid.Check(t, func(t *rapid.T) {
		checkRender(t, strings.Join(rapid.SliceOf(pieces).Draw(t, "content"), ""),
			rapid.Uint64Range(0, 20).Draw(t, "start"), rapid.Uint64Range(0, 40).Draw(t, "count"),
			rapid.SampledFrom([]string{plain, lineIndex, byteRange, hexEscaped}).Draw(t, "format"),
			rapid.IntRange(1, 80).Draw(t, "limit"))
	})
}

func FuzzRender(f *testing.F) {
	f.Add("a\r\nb\u2028\xff", uint64(0), uint64(3), uint8(1), 10)
	f.Fuzz(func(t *testing.T, content string, start, count uint64, format uint8, limit int) {
		if len(content) > 1<<12 || limit < 1 || limit > 1<<20 {
			return
		}
		formats := []string{plain, lineIndex, byteRange, hexEscaped}
		checkRender(t, content, start, count, formats[format%4], limit)
	})
}

func BenchmarkReadOneMiB(b *testing.B) {
	content := []byte(strings.Repeat("a line of text, as there are many\n", 1<<15))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		sel, err := choose(content, query{start: 1000, count: 200, format: lineIndex})
		if err != nil {
			b.Fatal(err)
		}
		render(sel, lineIndex, defaultOutput)
	}
}
