package lines_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/tools/reading/lines"
)

// split lists the lines with their terminators, by End.
func split(s string) []string {
	var out []string
	for begin := 0; ; {
		text, next := lines.End([]byte(s), begin)
		out = append(out, s[begin:next])
		if text == next {
			return out
		}
		begin = next
	}
}

func TestEveryTerminatorEndsALine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"":                   {""},
		"a":                  {"a"},
		"a\n":                {"a\n", ""},
		"a\nb":               {"a\n", "b"},
		"a\r\nb\rc\n\rd":     {"a\r\n", "b\r", "c\n", "\r", "d"},
		"a\vb\fc":            {"a\v", "b\f", "c"},
		"a\u0085b":           {"a\u0085", "b"},
		"a\u2028b\u2029":     {"a\u2028", "b\u2029", ""},
		"\u2027\u202a\u0086": {"\u2027\u202a\u0086"}, // neighbours of terminators
		"a\x85b":             {"a\x85b"},             // no UTF-8, so no terminator
		"\xc2":               {"\xc2"},
		"\xe2\x80":           {"\xe2\x80"},
		"\n\n":               {"\n", "\n", ""},
	} {
		if got := split(in); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\r\nthree"
	for _, c := range []struct {
		first, count uint64
		want         string
	}{
		{0, 1, "one\n"},
		{0, 2, "one\ntwo\r\n"},
		{1, 1, "two\r\n"},
		{2, 9, "three"},
		{1, ^uint64(0), "two\r\nthree"},
		{1, 0, ""},
		{3, 1, ""},
	} {
		from, to, total := lines.Span([]byte(text), c.first, c.count)
		if got := text[from:to]; got != c.want || total != 3 {
			t.Errorf("%d lines from %d: %q of %d", c.count, c.first, got, total)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	const text = "one\r\ntwo\n"
	for offset, want := range map[int][2]int{0: {0, 0}, 3: {0, 0}, 4: {0, 0}, 5: {1, 5}, 8: {1, 5}, 9: {2, 9}} {
		if number, begin := lines.Locate([]byte(text), offset); number != want[0] || begin != want[1] {
			t.Errorf("byte %d is in line %d, which begins at %d", offset, number, begin)
		}
	}
}

// model is the same rule in another notation.
var model = regexp.MustCompile("\r\n|[\n\r\v\f\u0085\u2028\u2029]")

func check(t interface{ Fatalf(string, ...any) }, s string) {
	got := split(s)
	if strings.Join(got, "") != s {
		t.Fatalf("lines of %q do not add up: %q", s, got)
	}
	if n := lines.Count([]byte(s)); n != len(got) || n != len(model.FindAllString(s, -1))+1 {
		t.Fatalf("%q has %d lines, counted %d", s, len(got), n)
	}
	begin := 0
	for i, line := range got {
		number, at := lines.Locate([]byte(s), begin)
		if number != i || at != begin {
			t.Fatalf("line %d of %q begins at %d, located %d at %d", i, s, begin, number, at)
		}
		from, to, _ := lines.Span([]byte(s), uint64(i), 1)
		if s[from:to] != line {
			t.Fatalf("line %d of %q is %q, span %q", i, s, line, s[from:to])
		}
		begin += len(line)
	}
}

func TestLinesAddUp(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{"a", "é", "\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\xe2", "\x80", "\xc2"})
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOf(pieces).Draw(t, "pieces"), ""))
	})
}

func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\u2028\xe2\x80")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<12 {
			check(t, s)
		}
	})
}
