package schema_test

import (
	"testing"

	"simplex/load/document"
	"simplex/load/schema"
)

// TestChecker judges every value of a small document and is told all that is wrong, in
// the order of the lines, without a word of the values.
func TestChecker(t *testing.T) {
	t.Parallel()
	tree, err := document.ParseYAML("d.yaml", []byte("word: purple\ncount: 0\nlist: [a, 'b c', 5]\nempty: ''\nplace: \"a\\0b\"\nwrod: x\na/b: 1\nfits: red\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := &schema.Checker{Tree: tree}
	root := tree.Root
	c.Closed(root, "", "word", "count", "list", "empty", "place", "fits")
	colour := schema.Key{Enum: []string{"red", "blue"}}
	if c.Text(root.Get("word"), &colour, "/word") || !c.Text(root.Get("fits"), &colour, "/fits") {
		t.Error("Text says something else than the errors")
	}
	c.Integer(root.Get("count"), &schema.Key{Min: 1}, "/count")
	if c.Kind(root.Get("list"), document.KindMapping, "/list") || !c.Kind(root.Get("list"), document.KindSequence, "/list") {
		t.Error("Kind says something else than the errors")
	}
	for i, item := range root.Get("list").Items {
		c.Text(item, &schema.Key{Type: schema.Name}, "/list/"+string(rune('0'+i)))
	}
	c.Text(root.Get("empty"), &schema.Key{NonEmpty: true}, "/empty")
	c.Text(root.Get("place"), &schema.Key{Type: schema.Path}, "/place")
	c.Fail(0, "/more", "is required")
	want := `d.yaml:1: /word: must be one of red, blue
d.yaml:2: /count: must be in the range 1..2147483647
d.yaml:3: /list: must be a mapping, not a list
d.yaml:3: /list/1: must consist of letters, digits, _ and -
d.yaml:3: /list/2: must be text, but YAML reads this unquoted value as an integer; put it in quotes
d.yaml:4: /empty: must not be empty
d.yaml:5: /place: must not contain NUL
d.yaml:6: /wrod: is not a known key; the nearest is /word
d.yaml:7: /a~1b: is not a known key
d.yaml: /more: is required`
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if err := (&schema.Checker{Tree: tree}).Err(); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
}

// TestNearest guesses within the mapping first, then elsewhere, never a refused key.
func TestNearest(t *testing.T) {
	t.Parallel()
	table := []schema.Key{
		{Path: "/worker", Type: schema.Mapping},
		{Path: "/worker/limit", Type: schema.Int},
		{Path: "/worker/limits", Type: schema.Refused},
		{Path: "/servers", Type: schema.Table},
		{Path: "/servers/*", Type: schema.Mapping},
		{Path: "/servers/*/address", Type: schema.Text},
		{Path: "/servers/*/retry/delay", Type: schema.Int},
	}
	for _, c := range []struct{ name, pattern, path, want string }{
		{"wroker", "", "", "/worker"},
		{"limit", "", "", "/worker/limit"},
		{"limits", "/worker", "/worker", "/worker/limit"},
		{"adress", "/servers/*", "/servers/one", "/servers/one/address"},
		{"delai", "/servers/*", "/servers/one", "/servers/one/retry/delay"},
		{"addr", "/servers/*", "/servers/one", "/servers/one/address"},
	} {
		if got := schema.Nearest(table, c.name, c.pattern, c.path); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.name, c.path, got, c.want)
		}
	}
	if got := schema.Nearest(nil, "x", "", ""); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
