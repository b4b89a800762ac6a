package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"simplex/internal/text"
)

func TestCutsKeepCharactersWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in     string
		budget int
		prefix string
		suffix string
	}{
		{"", 3, "", ""},
		{"hello", 9, "hello", "hello"},
		{"hello", 5, "hello", "hello"},
		{"hello", 2, "he", "lo"},
		{"hello", 0, "", ""},
		{"hello", -1, "", ""},
		{"aéz", 2, "a", "z"},
		{"aéz", 3, "aé", "éz"},
		{"日本", 5, "日", "本"},
		{"日本", 2, "", ""},
		{"😀😀", 7, "😀", "😀"},
		{"\xff\xfe\xfd", 2, "\xff\xfe", "\xfe\xfd"},
		{"a\xe6\x97", 2, "a\xe6", "\xe6\x97"}, // never whole: each byte stands alone
		{"\x97\x97日", 4, "\x97\x97", "\x97日"},
	} {
		if got := text.Prefix(tc.in, tc.budget); got != tc.prefix {
			t.Errorf("Prefix(%q, %d) = %q, want %q", tc.in, tc.budget, got, tc.prefix)
		}
		if got := text.Suffix(tc.in, tc.budget); got != tc.suffix {
			t.Errorf("Suffix(%q, %d) = %q, want %q", tc.in, tc.budget, got, tc.suffix)
		}
		if got := text.Prefix([]byte(tc.in), tc.budget); string(got) != tc.prefix {
			t.Errorf("Prefix of bytes %q = %q, want %q", tc.in, got, tc.prefix)
		}
	}
}

func TestSplitTailHoldsOnlyWhatCanBecomeWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, whole, held string }{
		{"", "", ""},
		{"abc", "abc", ""},
		{"é", "é", ""},
		{"a\xc3", "a", "\xc3"},
		{"a\xe6\x97", "a", "\xe6\x97"},
		{"a\xf0\x9f\x98", "a", "\xf0\x9f\x98"},
		{"a\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80", ""},
		{"a\xff", "a\xff", ""},         // no beginning of anything
		{"a\x80\x80", "a\x80\x80", ""}, // continuation without a start
		{"a\xe0\x80", "a\xe0\x80", ""}, // overlong: nothing mends it
		{"a\xed\xa0", "a\xed\xa0", ""}, // half of a surrogate
		{"\xc3\xc3", "\xc3", "\xc3"},   // the first one is lost already
	} {
		whole, held := text.SplitTail(tc.in)
		if whole != tc.whole || held != tc.held {
			t.Errorf("SplitTail(%q) = %q, %q; want %q, %q", tc.in, whole, held, tc.whole, tc.held)
		}
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"plain\ttext\r\n", "plain\ttext\r\n"},
		{"a\x00b", "a\uFFFDb"},
		{"\x1b[31mred\x7f", "\uFFFD[31mred\uFFFD"},
		{"\u009b31m", "\uFFFD31m"}, // the one-character CSI
		{"\xff\xfeok", "\uFFFD\uFFFDok"},
		{"\xe6\x97", "\uFFFD\uFFFD"},
		{"日本 \uFFFD", "日本 \uFFFD"},
	} {
		if got := text.Display(tc.in); got != tc.want {
			t.Errorf("Display(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
	if got, want := text.ToValid("\x1b\xffé"), "\x1b\uFFFDé"; got != want {
		t.Errorf("ToValid = %q, want %q", got, want)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"persistence", "providers", "plugins", "worker", "Tty"}
	for _, tc := range []struct{ word, want string }{
		{"persistance", "persistence"},
		{"provider", "providers"},
		{"pluigns", "plugins"},
		{"WORKER", "worker"},
		{"tyt", "Tty"},
		{"worker", ""}, // it is known already
		{"zebra", ""},
		{"", ""},
		{strings.Repeat("x", 65), ""},
	} {
		got, ok := text.Nearest(tc.word, known)
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", tc.word, got, ok, tc.want)
		}
	}
}

// anyBytes mixes characters, damaged bytes and control characters.
func anyBytes() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		part := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		return strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "parts"), "")
	})
}

func TestCutProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkCut(t, anyBytes().Draw(t, "s"), rapid.IntRange(-2, 64).Draw(t, "budget"))
	})
}

func FuzzCut(f *testing.F) {
	f.Add("aé日😀", 3)
	f.Add("\xf0\x9f\x98", 2)
	f.Fuzz(func(t *testing.T, s string, budget int) { checkCut(t, s, budget) })
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkCut(t failer, s string, budget int) {
	t.Helper()
	p, q := text.Prefix(s, budget), text.Suffix(s, budget)
	if len(p) > max(budget, 0) || len(q) > max(budget, 0) {
		t.Fatalf("budget %d exceeded: %q, %q", budget, p, q)
	}
	if !strings.HasPrefix(s, p) || !strings.HasSuffix(s, q) {
		t.Fatalf("%q or %q is no part of %q", p, q, s)
	}
	if utf8.ValidString(s) {
		if !utf8.ValidString(p) || !utf8.ValidString(q) {
			t.Fatalf("cut inside a character: %q, %q", p, q)
		}
		if want := min(len(s), budget) - (utf8.UTFMax - 1); len(p) < want || len(q) < want {
			t.Fatalf("budget %d not used: %d and %d bytes of %d", budget, len(p), len(q), len(s))
		}
	}
	whole, held := text.SplitTail(s)
	if whole+held != s || len(held) >= utf8.UTFMax {
		t.Fatalf("split of %q: %q, %q", s, whole, held)
	}
	if utf8.ValidString(s) && held != "" {
		t.Fatalf("held back a whole character: %q", held)
	}
	if held != "" && utf8.FullRuneInString(held) {
		t.Fatalf("held back what cannot grow: %q", held)
	}
}

// A stream read in pieces with the tail held back shows what one read would show.
func TestSplitTailJoinsAStream(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := anyBytes().Draw(t, "all")
		var shown strings.Builder
		held, rest := "", all
		for rest != "" {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			var whole string
			whole, held = text.SplitTail(held + rest[:n])
			shown.WriteString(text.Display(whole))
			rest = rest[n:]
		}
		shown.WriteString(text.Display(held))
		if got, want := shown.String(), text.Display(all); got != want {
			t.Fatalf("in pieces %q, at once %q", got, want)
		}
	})
}

func FuzzDisplay(f *testing.F) {
	f.Add("\x1b[0m\xff\u0085ok\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := text.Display(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) != utf8.RuneCountInString(s) {
			t.Fatalf("Display(%q) = %q", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) {
				t.Fatalf("control character %U left in %q", r, got)
			}
		}
		if text.Display(got) != got {
			t.Fatalf("not stable: %q", got)
		}
		if valid := text.ToValid(s); !utf8.ValidString(valid) || text.Display(valid) != got {
			t.Fatalf("ToValid(%q) = %q", s, valid)
		}
	})
}

func TestNearestProperties(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z_]{4,20}`)
	rapid.Check(t, func(t *rapid.T) {
		w := word.Draw(t, "w")
		at := rapid.IntRange(0, len(w)-1).Draw(t, "at")
		typo := w[:at] + w[at+1:]
		if got, ok := text.Nearest(typo, []string{"#########################", w}); !ok || got != w {
			t.Fatalf("Nearest(%q) = %q, %v; want %q", typo, got, ok, w)
		}
	})
}
