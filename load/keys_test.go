package load

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"simplex/load/document"
	"simplex/load/schema"
)

// sample is a node that suits a key.
func sample(k *schema.Key) *document.Node {
	text := func(s string) *document.Node { return &document.Node{Kind: document.KindString, Text: s} }
	switch {
	case k.Enum != nil:
		return text(k.Enum[0])
	case k.Type == TypeEndpoint:
		return text("ws://h")
	case k.Type == schema.Int || k.Type == schema.Bool:
		kind := document.KindInt
		if k.Type == schema.Bool {
			kind = document.KindBool
		}
		return &document.Node{Kind: kind, Text: k.Default}
	case k.Type == schema.Mapping || k.Type == schema.Table || k.Type == schema.Object:
		return &document.Node{Kind: document.KindMapping}
	case k.Type == schema.List:
		return &document.Node{Kind: document.KindSequence}
	}
	return text("m")
}

// complete makes a document that has every key of the table but the prompts (which
// would have to exist) and the refused; its names are "m", its lists have one item.
// set is the node at the key to be replaced, or nil.
func complete(replaced string, set *document.Node) *document.Tree {
	root := &document.Node{Kind: document.KindMapping}
	nodes := map[string]*document.Node{"": root}
	for i := range keys {
		k := &keys[i]
		if k.Path != replaced && (k.Type == schema.Refused || k.Type == TypePrompt) {
			continue
		}
		cut := strings.LastIndexByte(k.Path, '/')
		parent, name := nodes[k.Path[:cut]], k.Path[cut+1:]
		if parent == nil { // below the replaced key
			continue
		}
		n := sample(k)
		if k.Path == replaced {
			n = set
		} else {
			nodes[k.Path] = n
		}
		switch {
		case n == nil:
		case parent.Kind == document.KindSequence:
			parent.Items = append(parent.Items, n)
		default:
			parent.Members = append(parent.Members, document.Member{Name: strings.Replace(name, "*", "m", 1), Value: n})
		}
	}
	return &document.Tree{Name: "config.yaml", Root: root}
}

// concrete gives the path of a key in a complete document.
func concrete(k *schema.Key) string {
	path := ""
	for name := range strings.SplitSeq(k.Path[1:], "/") {
		switch {
		case name == "*" && key(cmpPattern(k.Path, path)).Type == schema.List:
			name = "0"
		case name == "*":
			name = "m"
		}
		path += "/" + name
	}
	return path
}

// cmpPattern gives the first names of pattern, as many as path has.
func cmpPattern(pattern, path string) string {
	return strings.Join(strings.Split(pattern, "/")[:strings.Count(path, "/")+1], "/")
}

func TestCompleteDocumentIsValid(t *testing.T) {
	t.Parallel()
	cfg, err := FromTree(complete("", nil), Options{})
	if err != nil || len(cfg.Warnings) > 0 {
		t.Fatalf("%v, %v", err, cfg)
	}
}

// TestEveryWrongType gives every key every kind of value that it must not have: the
// error names the line and the path of just this key.
func TestEveryWrongType(t *testing.T) {
	t.Parallel()
	right := map[schema.Type]document.Kind{
		schema.Int: document.KindInt, schema.Bool: document.KindBool, schema.Mapping: document.KindMapping, schema.Table: document.KindMapping, schema.Object: document.KindMapping, schema.List: document.KindSequence, schema.Refused: 0,
	}
	wrong := []*document.Node{
		{Kind: document.KindNull, Text: "null"},
		{Kind: document.KindBool, Text: "true"},
		{Kind: document.KindInt, Text: "5"},
		{Kind: document.KindFloat, Text: "5.0"},
		{Kind: document.KindString, Text: "5"},
		{Kind: document.KindSequence},
		{Kind: document.KindMapping},
	}
	tried := 0
	for i := range keys {
		k := &keys[i]
		want, special := right[k.Type]
		if !special {
			want = document.KindString
		}
		for _, n := range wrong {
			if n.Kind == want {
				continue
			}
			bad := *n
			bad.Line = 777
			tried++
			_, err := FromTree(complete(k.Path, &bad), Options{})
			var e *document.Error
			if !errors.As(err, &e) || e.Line != 777 || e.Path != concrete(k) {
				t.Errorf("%s as %s: got %v", k.Path, n.Kind, err)
			}
		}
	}
	t.Logf("%d cases", tried)
}

// TestEveryBound tries each integer at and beyond its bounds, each word outside its
// set, and each required or non-empty key absent or empty.
func TestEveryBound(t *testing.T) {
	t.Parallel()
	for i := range keys {
		k := &keys[i]
		number := func(v int64) *document.Node {
			return &document.Node{Kind: document.KindInt, Text: strconv.FormatInt(v, 10), Line: 777}
		}
		word := func(s string) *document.Node { return &document.Node{Kind: document.KindString, Text: s, Line: 777} }
		var bad []*document.Node
		switch {
		case k.Type == schema.Int:
			bad = append(bad, number(k.Min-1), number(schema.MaxInt+1))
			for _, v := range []int64{k.Min, schema.MaxInt} {
				if _, err := FromTree(complete(k.Path, number(v)), Options{}); err != nil && !strings.Contains(err.Error(), "_backoff_ms") && k.Path != "/worker/auto_compact_threshold" {
					t.Errorf("%s: %d refused: %v", k.Path, v, err)
				}
			}
		case k.Enum != nil:
			bad = append(bad, word("nonsense"), word(""), word(strings.ToUpper(k.Enum[0])))
		case k.NonEmpty || k.Type == schema.Name || k.Type == TypeEndpoint || k.Type == TypeChild || k.Type == TypePrompt:
			bad = append(bad, word(""))
		}
		if k.Type == schema.Path || k.Type == TypeChild || k.Type == TypePrompt {
			bad = append(bad, word("a\x00"))
		}
		if k.Required {
			bad = append(bad, nil)
		}
		for _, n := range bad {
			_, err := FromTree(complete(k.Path, n), Options{})
			var e *document.Error
			if !errors.As(err, &e) || e.Path != concrete(k) || n != nil && e.Line != 777 {
				t.Errorf("%s as %v: got %v", k.Path, n, err)
			}
		}
	}
}

// TestEveryMappingWarns puts an unknown key into every mapping of known keys.
func TestEveryMappingWarns(t *testing.T) {
	t.Parallel()
	for i := range keys {
		k := &keys[i]
		if k.Type != schema.Mapping {
			continue
		}
		n := &document.Node{Kind: document.KindMapping, Line: 1, Members: []document.Member{{Name: "unheard_of", Line: 777, Value: &document.Node{Kind: document.KindNull, Text: "null"}}}}
		for j := range keys {
			if name, ok := keys[j].In(k.Path); ok && keys[j].Required {
				n.Members = append(n.Members, document.Member{Name: name, Value: sample(&keys[j])})
			}
		}
		tree := complete(k.Path, n)
		cfg, err := FromTree(tree, Options{})
		if err != nil {
			t.Errorf("%s: %v", k.Path, err)
			continue
		}
		if len(cfg.Warnings) != 1 || cfg.Warnings[0].Line != 777 || cfg.Warnings[0].Path != concrete(k)+"/unheard_of" || cfg.Warnings[0].Nearest == "" {
			t.Errorf("%s: warnings %v", k.Path, cfg.Warnings)
		}
	}
}

// TestTableIsSound keeps the table usable as the only source: parents stand before
// children, defaults obey the row's own rule.
func TestTableIsSound(t *testing.T) {
	t.Parallel()
	seen := map[string]*schema.Key{"": {Type: schema.Mapping}}
	for i := range keys {
		k := &keys[i]
		cut := strings.LastIndexByte(k.Path, '/')
		parent := seen[k.Path[:cut]]
		if seen[k.Path] != nil || parent == nil || (k.Path[cut:] == "/*") != (parent.Type == schema.List || parent.Type == schema.Table) {
			t.Errorf("%s is out of place", k.Path)
		}
		seen[k.Path] = k
		written, err := document.ParseYAML("default", []byte("v: "+k.Default+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		kind := written.Root.Get("v").Kind
		if k.Type == schema.Int && kind != document.KindInt || k.Type == schema.Bool && kind != document.KindBool {
			t.Errorf("%s: default %q", k.Path, k.Default)
		}
		if k.Default != "" && k.Type != schema.Int && k.Type != schema.Bool && k.Refusal(k.Default)+textRule(k.Default, k.Type) != "" {
			t.Errorf("%s: default %q against its own rule", k.Path, k.Default)
		}
	}
	if len(Keys()) != len(keys) {
		t.Error("Keys is not the table")
	}
}

// TestExample loads config.example.yaml and finds every known key in it, written out
// or as a comment.
func TestExample(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := fromText(string(raw), Options{Env: environment(map[string]string{"DEEPSEEK_API_KEY": "k"})})
	if err != nil || len(cfg.Warnings) > 0 {
		t.Fatalf("%v, %v", err, cfg)
	}
	// With the examples in comments turned on (and their empty lists removed) it is
	// valid, too, and has every key.
	var lines []string
	for line := range strings.SplitSeq(string(raw), "\n") {
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		example, isExample := strings.CutPrefix(body, "# ")
		word, _, isKey := strings.Cut(strings.TrimPrefix(strings.TrimLeft(example, " "), "- "), ":")
		switch {
		case isExample && indent != "" && isKey && schema.IsName(word):
			lines = append(lines, indent+example)
		case body == "enable: []":
			lines = append(lines, indent+"enable:")
		default:
			lines = append(lines, line)
		}
	}
	tree, err := document.ParseYAML("config.example.yaml", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if k := &keys[i]; k.Type != schema.Refused && !present(tree.Root, strings.Split(k.Path[1:], "/")) {
			t.Errorf("%s is missing", k.Path)
		}
	}
}

// present tells whether a document has a value for a key's pattern.
func present(n *document.Node, names []string) bool {
	if n == nil || len(names) == 0 {
		return n != nil
	}
	if names[0] != "*" {
		return present(n.Get(names[0]), names[1:])
	}
	for _, item := range n.Items {
		if present(item, names[1:]) {
			return true
		}
	}
	for _, m := range n.Members {
		if present(m.Value, names[1:]) {
			return true
		}
	}
	return false
}

// TestReferencePage finds a row with default and type of every key in
// docs/configuration.md, and no row of a key that is unknown.
func TestReferencePage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `/"), "` | "); ok && strings.HasPrefix(line, "| `/") {
			rows["/"+name] = rest
		}
	}
	for i := range keys {
		k := &keys[i]
		row, ok := rows[k.Path]
		delete(rows, k.Path)
		if !ok || !strings.HasPrefix(row, reference(k)) {
			t.Errorf("docs/configuration.md: want the row\n| `%s` | %s …", k.Path, reference(k))
		}
	}
	for path := range rows {
		t.Errorf("docs/configuration.md tells of %s, which is no key", path)
	}
}

// reference is type and default of a key as the page shows them.
func reference(k *schema.Key) string {
	kind := string(k.Type)
	switch {
	case k.Type == schema.Int && k.Min > 0:
		kind += " ≥ " + strconv.FormatInt(k.Min, 10)
	case k.Type == schema.Int:
		kind += " ≥ 0"
	case k.Enum != nil:
		kind = "`" + strings.Join(k.Enum, "` `") + "`"
	}
	fallback := "—"
	switch {
	case k.Required:
		fallback = "required"
	case k.Default != "":
		fallback = "`" + k.Default + "`"
	}
	return kind + " | " + fallback + " | "
}
