package editing_test

import (
	"strings"
	"testing"
)

func TestResult(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	path := file(t, "zero\none\ntwo\nthree\nfour\nfive\n")
	got := ok(t, r, path, "wo\nthr", "WO\nand\nTHR", contextLines(1))
	want := `[[status]]: modified
[[match_line]]: 2
[[match_byte_column]]: 1
[[before_bytes]]: 29
[[after_bytes]]: 33
[[preview_truncated]]: false

before (43 bytes):
  1 | one
- 2 | two
- 3 | three
  4 | four

after (53 bytes):
  1 | one
+ 2 | tWO
+ 3 | and
+ 4 | THRee
  5 | four
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	holds(t, path, "zero\none\ntWO\nand\nTHRee\nfour\nfive\n")
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	path := file(t, "a\nb\n")
	got := ok(t, r, path, "b", "b")
	contains(t, got, "[[status]]: unchanged", "= 1 | b\n")
	if strings.Contains(got, "+ ") || strings.Contains(got, "- ") {
		t.Errorf("a change in:\n%s", got)
	}
	contains(t, fails(t, r, path, "c", "c"), "does not contain old_text")
	contains(t, fails(t, r, file(t, "bb"), "b", "b"), "contains old_text 2 times")
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	path := file(t, "func main() {\n\tprint()\n}\n")
	message := fails(t, r, path, "func main() {\n    print()\n", "x")
	contains(t, message, "does not contain old_text", "nothing was written", "Its first line does occur, in line 0")
	contains(t, fails(t, r, path, "nowhere", "x"), "Read the place again")
	holds(t, path, "func main() {\n\tprint()\n}\n")
}

// The number of occurrences and their lines are named, and more context helps (BR-019).
func TestAmbiguous(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	const content = "def a():\n    debug = True\n\ndef b():\n    debug = True\n"
	path := file(t, content)
	message := fails(t, r, path, "    debug = True", "    debug = False")
	contains(t, message, "contains old_text 2 times, in lines 1, 4 (counted from 0), so nothing was written")
	holds(t, path, content)
	ok(t, r, path, "def b():\n    debug = True", "def b():\n    debug = False")
	holds(t, path, "def a():\n    debug = True\n\ndef b():\n    debug = False\n")
}

func TestOverlappingOccurrencesCount(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	contains(t, fails(t, r, file(t, "aaa"), "aa", "b"), "contains old_text 2 times, in lines 0, 0")
	contains(t, fails(t, r, file(t, "x\n\n\ny"), "\n\n", "\n"), "contains old_text 2 times, in lines 0, 1")
	contains(t, fails(t, r, file(t, strings.Repeat("a\n", 5000)), "a", "b"), "at least 1000 times", "18, 19 and others")
	// Counting is bounded where it would take long.
	contains(t, fails(t, r, file(t, strings.Repeat("a", 3<<20)), strings.Repeat("a", 1<<20), "b"), "at least")
}

// What the model saw with LF can be edited in a file of CRLF (BR-017).
func TestLineEnds(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	for _, c := range []struct{ content, old, text, want string }{
		{"a\r\nb\r\nc", "a\nb", "a\nB\nB2", "a\r\nB\r\nB2\r\nc"},
		{"a\r\nb\r\nc", "b\n", "", "a\r\nc"},
		{"a\r\nb\r\nc", "a\nb", "x\r\ny\nz", "x\r\ny\r\nz\r\nc"},
		{"a\nb\r\nc\nd\r\n", "b\nc", "B\nC", "a\nB\r\nC\nd\r\n"}, // mixed, but not here
		{"a\nb\r\nc\nd\r\n", "c\nd", "C\nD", "a\nb\r\nC\nD\r\n"}, // byte-exact first
		{"a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"},             // asked for in so many bytes
		{"a\r\nb", "\nb", "\nc", "a\r\nc"},
		{"a\rb\n", "a\rb", "c", "c\n"},
		{"no end", "end", "newline", "no newline"},
	} {
		path := file(t, c.content)
		ok(t, r, path, c.old, c.text)
		holds(t, path, c.want)
	}
	for _, c := range []struct{ content, old string }{
		{"a\r\nb\nc\r\n", "a\nb\nc"}, // the ends differ inside the match
		{"a\r\nb\rc\r\n", "a\nb\rc"}, // a lone CR is another end
		{"a\nb", "a\r\nb"},           // CRLF is never taken for LF
		{"a\r\nb\r\nc", "a\r\nb\nc"}, // nor is a mixture guessed at
	} {
		contains(t, fails(t, r, file(t, c.content), c.old, "x"), "does not contain old_text")
	}
	contains(t, fails(t, r, file(t, "a\r\nb\r\na\r\nb\r\n"), "a\nb", "x"), "2 times, in lines 0, 2")
	contains(t, ok(t, r, file(t, "a\r\nb\r\n"), "b", "b\nc"), "[[hint]]: the line here ends with CRLF")
}

// The byte order mark is no part of the text, and stays (BR-018).
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	const bom = "\xEF\xBB\xBF"
	path := file(t, bom+"title: x\nbody\n")
	ok(t, r, path, "body", "text")
	holds(t, path, bom+"title: x\ntext\n")
	got := ok(t, r, path, "title: x", "title: y")
	contains(t, got, "[[match_byte_column]]: 0", "- 0 | title: x\n", "+ 0 | title: y\n")
	holds(t, path, bom+"title: y\ntext\n")
	ok(t, r, path, bom+"title: y", bom+"title: z") // copied with the mark
	holds(t, path, bom+"title: z\ntext\n")
	ok(t, r, path, "title: z\n", bom+"t\n") // and never twice
	holds(t, path, bom+"t\ntext\n")
	ok(t, r, path, "t\ntext\n", "")
	holds(t, path, bom)
	contains(t, fails(t, r, path, bom, "x"), "does not contain old_text")
}

func TestBytesThatAreNoTextStay(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	path := file(t, "\xff\x00\nname\n\xe9\xe8")
	got := ok(t, r, path, "name", "N")
	contains(t, got, "  0 | \uFFFD\uFFFD\n", "  2 | \uFFFD\uFFFD\n")
	holds(t, path, "\xff\x00\nN\n\xe9\xe8")
}

func TestPreview(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(strings.Repeat("l", i%7+1) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		content, old, text string
		context            uint64
		before, after      string
		truncated          string
	}{
		"a line goes": {
			"a\nb\nc\n", "b\n", "", 1,
			"  0 | a\n- 1 | b\n  2 | c\n", "  0 | a\n  1 | c", "false",
		},
		"a line comes": {
			"a\nc\n", "a\n", "a\nb\n", 0,
			"- 0 | a\n", "+ 0 | a\n+ 1 | b", "false",
		},
		"lines are joined": {
			"a\nb\nc", "a\n", "A", 0,
			"- 0 | a\n- 1 | b\n", "+ 0 | Ab", "false",
		},
		"numbers share a width": {
			numbers(0, 9) + "x\nlast\n", "x", "y", 2,
			"   7 | l\n   8 | ll\n-  9 | x\n  10 | last\n", "   7 | l\n   8 | ll\n+  9 | y\n  10 | last", "false",
		},
		"a long line": {
			strings.Repeat("p", 600) + "X" + strings.Repeat("s", 600), "X", "Y", 3,
			"- 0 | [472 bytes skipped] " + strings.Repeat("p", 128) + "X" + strings.Repeat("s", 383) + " [217 bytes more]\n",
			"+ 0 | [472 bytes skipped] " + strings.Repeat("p", 128) + "Y" + strings.Repeat("s", 383) + " [217 bytes more]", "true",
		},
		"a long line at its start": {
			strings.Repeat("p", 128) + "X" + strings.Repeat("s", 600), "X", "", 3,
			"- 0 | " + strings.Repeat("p", 128) + "X" + strings.Repeat("s", 383) + " [217 bytes more]\n",
			"+ 0 | " + strings.Repeat("p", 128) + strings.Repeat("s", 384) + " [216 bytes more]", "true",
		},
		"512 bytes are whole": {
			strings.Repeat("é", 256), strings.Repeat("é", 256), "e", 3,
			"- 0 | " + strings.Repeat("é", 256) + "\n", "+ 0 | e", "false",
		},
		"513 are not, and no character is split": {
			"a" + strings.Repeat("é", 256), "a" + strings.Repeat("é", 256), "e", 3,
			"- 0 | a" + strings.Repeat("é", 255) + " [2 bytes more]\n", "+ 0 | e", "true",
		},
	} {
		got := ok(t, r, file(t, c.content), c.old, c.text, contextLines(c.context))
		if was := block(got, "before") + "\n"; was != c.before {
			t.Errorf("%s: before is\n%swant\n%s", name, was, c.before)
		}
		if is := strings.TrimSuffix(block(got, "after"), "\n"); is != c.after {
			t.Errorf("%s: after is\n%s\nwant\n%s", name, is, c.after)
		}
		contains(t, got, "[[preview_truncated]]: "+c.truncated)
	}
}

func TestLongPreviewKeepsItsEnds(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	for _, c := range []struct {
		added int
		rows  int
		gap   string
	}{
		{48, 48, ""},
		{49, 49, "! " + "  " + " | 1 lines are not shown"},
		{5000, 49, "! " + "    " + " | 4952 lines are not shown"},
	} {
		var added strings.Builder
		for i := range c.added {
			added.WriteString(strings.Repeat("x", i%3+1) + "\n")
		}
		got := ok(t, r, file(t, "old\n"), "old\n", added.String(), contextLines(0))
		rows := strings.Split(strings.TrimSuffix(block(got, "after"), "\n"), "\n")
		if len(rows) != c.rows {
			t.Errorf("%d lines: %d rows", c.added, len(rows))
		}
		if c.gap != "" && rows[24] != c.gap {
			t.Errorf("%d lines: row 24 is %q", c.added, rows[24])
		}
		if last := rows[len(rows)-1]; !strings.HasPrefix(last, "+ ") || !strings.HasSuffix(last, strings.Repeat("x", (c.added-1)%3+1)) {
			t.Errorf("%d lines: the last row is %q", c.added, last)
		}
	}
}
