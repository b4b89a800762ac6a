package reading_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/tools/reading"
)

// patience is for what comes at once on an idle machine.
const patience = 10 * time.Second

func TestResult(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := file(t, "one\r\ntwo\nthree\n")
	got := b.ok("path", path, "start", 1, "count", 2)
	want := "[[path]]: " + path + `
[[lines_read]]: 2
[[total_lines]]: 4
[[total_bytes]]: 15
[[reached_end]]: false
[[output_truncated]]: false
[[display_replaced]]: false

text (10 bytes):
two
three
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	got = b.ok("path", path, "mode", "bytes", "start", 9, "count", 99)
	want = "[[path]]: " + path + `
[[total_lines]]: 4
[[total_bytes]]: 15
[[reached_end]]: true
[[output_truncated]]: false
[[display_replaced]]: false

text (6 bytes):
three
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := file(t, "zero\r\none\v\u2028three\u0085é")
	many := file(t, strings.Repeat("x\n", 10)+"y")
	for _, c := range []struct{ path, mode, format, count, want string }{
		{path, "lines", "plain", "99", "zero\r\none\v\u2028three\u0085é"},
		{path, "lines", "line_index", "99", "0 | zero\n1 | one\n2 | \n3 | three\n4 | é"},
		{path, "lines", "byte_range", "99", "[ 0: 6] | zero\n[ 6:10] | one\n[10:13] | \n[13:20] | three\n[20:22] | é"},
		{path, "lines", "byte_range", "1", "[0:6] | zero"},
		{path, "bytes", "plain", "5", "zero\r"},
		{path, "bytes", "hex_escaped", "6", `\x7A\x65\x72\x6F\x0D\x0A`},
		{many, "lines", "line_index", "99", " 0 | x\n 1 | x\n 2 | x\n 3 | x\n 4 | x\n 5 | x\n 6 | x\n 7 | x\n 8 | x\n 9 | x\n10 | y"},
		{many, "lines", "line_index", "2", "0 | x\n1 | x"},
	} {
		var count int
		fmt.Sscan(c.count, &count)
		text := b.ok("path", c.path, "mode", c.mode, "format", c.format, "count", count)
		if got := strings.TrimSuffix(body(t, text), "\n"); got != strings.TrimSuffix(c.want, "\n") {
			t.Errorf("%s by %s, %s: %q, want %q", c.format, c.mode, c.count, got, c.want)
		}
	}
}

func TestEdgesOfAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	two, empty := file(t, "a\nb\n"), file(t, "")
	for _, c := range []struct {
		path, mode   string
		start, count int
		end          bool
		want, read   string
	}{
		{two, "lines", 0, 0, false, "", "0"},
		{two, "lines", 2, 5, true, "", "1"}, // the empty line after the last terminator
		{two, "lines", 3, 5, true, "", "0"},
		{two, "lines", 0, 2, false, "a\nb\n", "2"},
		{two, "bytes", 4, 5, true, "", ""},
		{empty, "lines", 0, 5, true, "", "1"},
		{empty, "bytes", 0, 5, true, "", ""},
	} {
		text := b.ok("path", c.path, "mode", c.mode, "start", c.start, "count", c.count)
		if got := body(t, text); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		if field(text, "reached_end") != fmt.Sprint(c.end) || field(text, "lines_read") != c.read {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
	for _, args := range [][]any{
		{"path", two, "start", 4},
		{"path", two, "start", uint64(1) << 63, "count", uint64(1) << 63},
		{"path", two, "mode", "bytes", "start", 5},
		{"path", empty, "start", 2},
	} {
		stage, message := b.fails(args...)
		if stage != "invoke" || !strings.HasPrefix(message, "read_text: start ") {
			t.Errorf("%v: %s at %s", args, message, stage)
		}
	}
}

func TestDamagedTextIsReplacedAndSaidSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := file(t, "a\xff\xfeb\x00c\x1b[0m\n")
	text := b.ok("path", path)
	contains(t, text, "\n\ntext (17 bytes):\na\uFFFD\uFFFDb\uFFFDc\x1b[0m\n", "[[display_replaced]]: true", "hex_escaped", "does not look like a text file")
	text = b.ok("path", path, "mode", "bytes", "format", "hex_escaped")
	contains(t, text, `a\xFF`[1:], "[[display_replaced]]: false")
	if field(text, "hints") != "" {
		t.Errorf("hints %s", field(text, "hints"))
	}
	// A character that is there is not damage.
	if text := b.ok("path", file(t, "\uFFFD\n")); field(text, "display_replaced") != "false" {
		t.Error(text)
	}
}

// The probe judges the beginning only, and does not take its own cut for damage.
func TestUnlikelyText(t *testing.T) {
	t.Parallel()
	b := benchOf(t, reading.Config{ProbeBytes: 8})
	for content, unlikely := range map[string]bool{
		"text\twith\r\n\fthese":  false,
		"é":                      false,
		"1234567é":               false, // cut by the probe
		"12345678\x00":           false, // behind it
		"1234567\xff ":           true,
		"a\x7fb":                 true,
		"a\vb":                   true,
		"a\x00b":                 true,
		"caf\xe9 in latin-1":     true,
		"\x89PNG\r\n\x1a\n":      true,
		"":                       false,
		"\xef\xbb\xbfwith a BOM": false,
	} {
		text := b.ok("path", file(t, content), "count", 0)
		if got := strings.Contains(text, "does not look like"); got != unlikely {
			t.Errorf("%q: unlikely %v", content, got)
		}
	}
}

// The limit never cuts inside a character (BR-008): the three-byte character lies
// across each possible place.
func TestCutKeepsCharactersWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for ascii := 65530; ascii <= 65537; ascii++ {
		content := strings.Repeat("a", ascii) + "漢字漢字é😀"
		text := b.ok("path", file(t, content))
		shown := body(t, text)
		shown = strings.TrimSuffix(shown, "\n")
		if len(shown) > 65536 || len(shown) < 65534 || !strings.HasPrefix(content, shown) {
			t.Errorf("%d: %d bytes end in %q", ascii, len(shown), shown[len(shown)-8:])
		}
		contains(t, text, "[[output_truncated]]: true", fmt.Sprintf("%d bytes of the selection are not shown", len(content)-len(shown)),
			fmt.Sprintf("text (truncated, first %d bytes):", len(shown)))
	}
}

// One long line does not hide the others (BR-010): the hints lead past it and into it.
func TestLongLine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("x", 2<<20)
	path := file(t, long+"\nb.js:7:hit\nc.js:9:hit\n")
	text := b.ok("path", path)
	contains(t, text, `line 0 alone is longer; see the rest of it with mode \"bytes\" and start 65536, or go on with start 1`)
	contains(t, b.ok("path", path, "start", 1), "b.js:7:hit\nc.js:9:hit\n")
	text = b.ok("path", path, "mode", "bytes", "start", 65536, "count", 3<<20)
	contains(t, text, "go on with start 131072 and count ")
}

// Following the hints gives the whole file, in every format.
func TestPagingShowsEverything(t *testing.T) {
	t.Parallel()
	b := limited(t, `{max_output_bytes: 50}`)
	var content strings.Builder
	for i := range 40 {
		fmt.Fprintf(&content, "line %d é\n", i)
	}
	path := file(t, content.String())
	var got strings.Builder
	for start, count, rounds := 0, 200, 0; ; rounds++ {
		text := b.ok("path", path, "start", start, "count", count)
		shown := body(t, text)
		if field(text, "output_truncated") == "false" {
			got.WriteString(shown)
			break
		}
		hint := field(text, "hints")
		next, left := 0, 0
		at := strings.Index(hint, "go on with start ")
		if _, err := fmt.Sscanf(hint[at:], "go on with start %d and count %d", &next, &left); err != nil || rounds > 100 {
			t.Fatalf("%s: %v", hint, err)
		}
		got.WriteString(strings.Join(strings.SplitAfter(shown, "\n")[:next-start], ""))
		start, count = next, left
	}
	if got.String() != content.String() {
		t.Errorf("got %q", got.String())
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	fifo, socket, huge := filepath.Join(dir, "live"), filepath.Join(dir, "socket"), filepath.Join(dir, "huge")
	must(t, unix.Mkfifo(fifo, 0o600))
	l, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	f, err := os.Create(huge)
	must(t, err)
	must(t, f.Truncate(3<<30))
	must(t, f.Close())
	must(t, os.Symlink("live", filepath.Join(dir, "link")))
	must(t, os.Symlink("nothing", filepath.Join(dir, "dangling")))
	for path, want := range map[string]string{
		fifo:                           "is a FIFO; only regular files can be read",
		filepath.Join(dir, "link"):     "is a FIFO",
		socket:                         "is a socket",
		dir:                            "is a directory",
		"/dev/zero":                    "is a device",
		huge:                           "has 3221225472 bytes, more than max_file_bytes (16777216)",
		filepath.Join(dir, "none"):     "cannot read",
		filepath.Join(dir, "dangling"): "cannot read",
		filepath.Join(huge, "below"):   "cannot read",
	} {
		began := time.Now()
		stage, message := b.fails("path", path)
		if stage != "invoke" || !strings.HasPrefix(message, "read_text: ") || !strings.Contains(message, want) {
			t.Errorf("%s: %s at %s", path, message, stage)
		}
		if d := time.Since(began); d > patience {
			t.Errorf("%s took %v", path, d)
		}
	}
	_, res := b.call("path", filepath.Join(dir, "none"))
	contains(t, res.Output.Raw, "(no such file or directory; tool read_text; call c)")
	small := limited(t, `{max_file_bytes: 3}`)
	small.ok("path", file(t, "123"))
	if _, message := small.fails("path", file(t, "1234")); !strings.Contains(message, "max_file_bytes (3)") {
		t.Error(message)
	}
}

func TestSymlinksAndRelativePaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := file(t, "target\n")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	contains(t, b.ok("path", link), "target\n", "[[path]]: "+link)
	contains(t, b.ok("path", "doc.go", "count", 1), "// Package reading")
}
