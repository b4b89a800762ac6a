package editing

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEdit finds and previews edits: nothing outside the match changes, and every
// preview is bounded, valid text.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\r\nc", "a\nb", "a\nB\nB2", uint8(3))
	f.Add("\xef\xbb\xbftitle\nbody\n", "title", "\xef\xbb\xbft", uint8(0))
	f.Add("x\xff\n\x00y", "y", "", uint8(20))
	f.Fuzz(func(t *testing.T, content, old, text string, context uint8) {
		if old == "" || len(content)+len(old)+len(text) > 1<<14 {
			return
		}
		m, err := find([]byte(content), []byte(old), []byte(text))
		if err != nil {
			_ = refusal("path", err)
			return
		}
		after := m.apply([]byte(content))
		if !bytes.HasPrefix(after, []byte(content[:m.at])) || !bytes.HasSuffix(after, []byte(content[m.end:])) ||
			len(after) != len(content)-(m.end-m.at)+len(m.text) {
			t.Fatalf("%q became %q", content, after)
		}
		if strings.HasPrefix(content, string(bom)) != bytes.HasPrefix(after, bom) && strings.HasPrefix(content, string(bom)) {
			t.Fatalf("the mark is lost: %q", after)
		}
		o := outcome{edit: edit{context: int(context % 21)}, match: m, before: []byte(content), after: after, status: modified}
		way := approachTo(o.before, o.at, o.context)
		was, is := o.views(way)
		for _, v := range []view{was, is} {
			rows, _ := v.render()
			if !utf8.ValidString(rows) || strings.ContainsRune(rows, 0) {
				t.Fatalf("unfit to be shown: %q", rows)
			}
			if n := strings.Count(rows, "\n"); n > 2*halfRows+1 {
				t.Fatalf("%d rows", n)
			}
		}
		if column := o.at - textBegin(o.before, way.begin); column < 0 || len(way.lead) > o.context {
			t.Fatalf("column %d, %d lines before", column, len(way.lead))
		}
	})
}
