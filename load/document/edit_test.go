package document_test

import (
	"testing"

	"simplex/load/document"
)

func TestEditsLeaveTheOriginalAlone(t *testing.T) {
	t.Parallel()
	tree, err := document.ParseYAML("x", []byte("a: {b: {c: old, d: 1.50}}\ntext: t\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := tree.JSON().String()
	set := func(value string, path ...string) string {
		edited := tree.Root.WithAt(path, document.TextNode(value))
		return (&document.Tree{Name: "x", Root: edited}).JSON().String()
	}
	for got, want := range map[string]string{
		set("new", "a", "b", "c"): `{"a":{"b":{"c":"new","d":1.5}},"text":"t"}`,
		set("new", "n", "m"):      `{"a":{"b":{"c":"old","d":1.5}},"n":{"m":"new"},"text":"t"}`,
		set("new", "text", "m"):   before, // no mapping: nothing to set
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if after := tree.JSON().String(); after != before {
		t.Errorf("the original became %s", after)
	}
	if tree.Root.At("a", "b", "c").Text != "old" || tree.Root.At("a", "x", "c") != nil {
		t.Error("At finds something else")
	}
}
