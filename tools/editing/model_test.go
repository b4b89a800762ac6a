package editing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"simplex/tools"
)

// content draws files with all kinds of line ends, marks and damage.
func content() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{"a", "b", "ab", "é", "\n", "\r\n", "\r", "\v", "\u2028", "\xff", "\xef\xbb\xbf", "\x00", "\t", "lang"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
	})
}

// count counts overlapping occurrences the slow way.
func count(s, sub string) int {
	n := 0
	for i := range len(s) {
		if !strings.HasPrefix(s[i:], sub) {
			continue
		}
		n++
	}
	return n
}

// TestEditIsItsModel holds edits of real files against a few lines that say what an
// edit is.
func TestEditIsItsModel(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		before := content().Draw(t, "content")
		old := strings.ToValidUTF8(content().Draw(t, "old"), "")
		if from := rapid.IntRange(0, len(before)).Draw(t, "from"); rapid.Bool().Draw(t, "part") {
			part := before[from:rapid.IntRange(from, len(before)).Draw(t, "to")]
			if strings.ToValidUTF8(part, "") == part {
				old = part
			}
		}
		if old == "" {
			return
		}
		if rapid.Bool().Draw(t, "seen with LF") {
			old = strings.ReplaceAll(old, "\r\n", "\n")
		}
		text := strings.ToValidUTF8(content().Draw(t, "new"), "")
		path := filepath.Join(dir, "file")
		must(t, os.WriteFile(path, []byte(before), 0o600))
		mode := uint32(rapid.IntRange(0o400, 0o777).Draw(t, "mode"))
		if os.Geteuid() == 0 {
			owner := rapid.IntRange(0, 2000).Draw(t, "owner")
			must(t, os.Chown(path, owner, owner))
		}
		must(t, unix.Chmod(path, mode))
		var was, is unix.Stat_t
		must(t, unix.Stat(path, &was))
		res := edit(t, r, path, old, text)
		must(t, unix.Stat(path, &is))
		after, err := os.ReadFile(path)
		must(t, err)
		want, fine := model(before, old, text)
		if fine == tools.IsError(res) {
			t.Fatalf("edit of %q, %q to %q: %s", before, old, text, res.Output.Raw)
		}
		if string(after) != want {
			t.Fatalf("edit of %q, %q to %q: %q, want %q", before, old, text, after, want)
		}
		if is.Mode != was.Mode || is.Uid != was.Uid || is.Gid != was.Gid || is.Nlink != 1 {
			t.Fatalf("mode %o became %o, owner %d:%d became %d:%d", was.Mode, is.Mode, was.Uid, was.Gid, is.Uid, is.Gid)
		}
		if want == before && is.Ino != was.Ino {
			t.Fatalf("an edit without effect wrote the file")
		}
	})
}

// model is one edit of a content.
func model(before, old, text string) (after string, fine bool) {
	const bom = "\xef\xbb\xbf"
	mark, body := "", before
	if strings.HasPrefix(before, bom) {
		mark, body = bom, before[len(bom):]
	}
	crlf := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
	}
	total := func(old string) int {
		n := count(body, old)
		if rest, ok := strings.CutPrefix(old, bom); ok && mark != "" && rest != "" && strings.HasPrefix(body, rest) {
			n++
		}
		return n
	}
	n := total(old)
	if n == 0 && strings.Contains(old, "\n") && !strings.Contains(old, "\r") {
		old, text = crlf(old), crlf(text)
		n = total(old)
	}
	if n != 1 {
		return before, false
	}
	head, tail, found := strings.Cut(body, old)
	if !found {
		head, tail = "", strings.TrimPrefix(body, strings.TrimPrefix(old, bom))
	}
	if mark != "" && head == "" {
		text = strings.TrimPrefix(text, bom)
	}
	return mark + head + text + tail, true
}
