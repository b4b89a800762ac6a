package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestBadYAML shows that each document that is no YAML, or more than the contract
// allows, is refused with the line a person would look at.
func TestBadYAML(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	for _, c := range []struct {
		name, doc string
		line      int
		words     string
	}{
		{"empty", "", 1, "empty"},
		{"only a comment", "# nothing\n", 1, "empty"},
		{"scalar root", "just words", 1, "must be a mapping, not text"},
		{"list root", "\n- a\n", 2, "must be a mapping, not a list"},
		{"null root", "---\n", 2, "must be a mapping, not null"},
		{"second document", "a: 1\n---\nb: 2\n", 2, "second document"},
		{"second empty document", "a: 1\n---\n", 2, "second document"},
		{"duplicate key", "providers:\n  a: 1\nx: 1\nproviders:\n  b: 2\n", 4, `"providers" appears twice; the first is in line 1`},
		{"duplicate nested key", "a:\n  b: 1\n  'b': 2\n", 3, `"b" appears twice`},
		{"duplicate alias, its value unsaid", "k: &k s3cret\n*k : 1\n*k : 2\n", 3, "the key *k appears twice; the first is in line 2"},
		{"duplicate in flow", "a: {b: 1, b: 2}\n", 1, "appears twice"},
		{"tab as indentation", "worker:\n\tmax_exchanges: 5\n", 2, "tab"},
		{"tab after spaces", "worker:\n  a: 1\n  \tb: 2\n", 3, "tab"},
		{"tab before a value", "worker:\n\tx\n", 2, "tab"},
		{"tab before a list", "worker:\n\t- x\n", 2, "tab"},
		{"bad indentation", "a: b\n c: d\n", 2, "mapping values"},
		{"key in a list", "a:\n  - x\n  b: 1\n", 3, "did not find expected"},
		{"dedent too little", "a:\n    b: 1\n  c: 2\n", 3, "did not find expected"},
		{"unclosed quote in the first line", "a: \"x\nb: 2\nc: 3\n", 1, "end of stream"},
		{"unclosed quote", "a: 1\nb: 'x\nc: 3\n", 2, "end of stream"},
		{"unclosed bracket at the end", "a: 1\nb: 2\nc: [1, 2\n", 3, "expected"},
		{"unclosed bracket", "a: 1\nb: [1, 'x'\nc: 3\nd: 4\n", 4, "begins in line 2"},
		{"unclosed bracket, text that goes on", "a: 1\nb: [1, 2\nc: 3\nd: 4\n", 4, "expected"},
		{"error deep in a flow", "a: {\n b: 1,\n c: 2,\n d: 3,\n e: ], f: 2,\n g: 1 }\n", 5, "expected"},
		{"unknown alias", "a: 1\nb: *nope\nc: 3\n", 2, "unknown anchor"},
		{"unknown alias in the last line", "a: 1\nb: *nope\n", 2, "unknown anchor"},
		{"reserved character", "a: 1\nb: @home\n", 2, "cannot start any token"},
		{"bad escape", "a: 1\nb: \"\\q\"\n", 2, "escape"},
		{"control character", "a: 1\nb: \x01\n", 2, "control characters"},
		{"invalid UTF-8", "a: 1\nb: \xff\n", 2, "UTF-8"},
		{"UTF-16", "\xff\xfea\x00:\x00", 1, "UTF-8"},
		{"mapping as key", "a: 1\n? {b: c}\n: d\n", 2, "key must be a scalar"},
		{"list as key", "a: 1\n? [b]\n: d\n", 2, "key must be a scalar"},
		{"merge of a scalar", "a: 1\n<<: 5\n", 2, "merge key"},
		{"merge of scalars", "a: 1\n<<: [{b: 1}, 5]\n", 2, "merge key"},
		{"two merges", "a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n", 3, "twice"},
		{"not a number", "a: 1\nb: .nan\n", 2, "finite"},
		{"infinity", "a: 1\nb: -.Inf\n", 2, "finite"},
		{"overflow", "a: 1\nb: 1e999\n", 2, "finite"},
		{"foreign tag", "a: 1\nb: !ruby x\n", 2, "tag"},
		{"binary tag", "b: !!binary aGk=\n", 1, "tag"},
		{"tag on a mapping", "b: !!set {x}\n", 1, "tag"},
		{"tag that does not fit", "b: !!int word\n", 1, "tag"},
		{"too deep", "a:\n  " + deep + "\n", 2, "deeper"},
		{"self-reference", "a: &a\n  - *a\n", 2, "into itself"},
		{"self-merge", "a: &a\n  <<: *a\n", 2, "into itself"},
		{"alias bomb", bomb(10), 4, "1000 nodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseYAML("bad.yaml", []byte(c.doc))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.File != "bad.yaml" || e.Line != c.line || !strings.Contains(e.Message, c.words) {
				t.Errorf("got %q, want line %d and %q", e, c.line, c.words)
			}
		})
	}
}

// bomb is n levels of ten aliases each: 10^n nodes if they were expanded.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("l0: &l0 x\n")
	for i := 1; i <= n; i++ {
		ref := fmt.Sprintf("*l%d", i-1)
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(ref+", ", 10), ", "))
	}
	return b.String()
}

// TestBadYAMLIsCheap shows that refusing an enormous document ends.
func TestBadYAMLIsCheap(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"bomb":           bomb(10),
		"deep":           strings.Repeat("[", 100_000),
		"unclosed quote": "a: \"" + strings.Repeat("x\n", 20_000),
		"late tab":       strings.Repeat("a:\n  - 1\n", 3_000) + "\tb: 1\n",
	} {
		start := time.Now()
		if _, err := ParseYAML("x", []byte(doc)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		t.Logf("%s: %v", name, time.Since(start))
	}
}
