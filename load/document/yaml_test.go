package document

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
)

// TestScalars is the conversion table of §2.1.
func TestScalars(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"y": "true", "Y": "true", "yes": "true", "YES": "true", "on": "true", "On": "true", "true": "true", "True": "true",
		"n": "false", "N": "false", "no": "false", "NO": "false", "off": "false", "OFF": "false", "FALSE": "false",
		"yEs": `"yEs"`, "tRUE": `"tRUE"`, "nope": `"nope"`,
		"~": "null", "null": "null", "Null": "null", "NULL": "null", "": "null", "nULL": `"nULL"`,
		"0": "0", "-0": "0", "+5": "5", "007": "7", "-12": "-12",
		"9223372036854775808": "9223372036854775808", "18446744073709551615": "18446744073709551615",
		"18446744073709551616": "18446744073709552000.0", "-9223372036854775809": "-9223372036854776000.0",
		"1.0": "1.0", "5.": "5.0", ".5": "0.5", "-1.25e2": "-125.0", "1e3": "1000.0", "1e21": "1e+21", "1E-9": "1e-09",
		"0x1F": `"0x1F"`, "0o17": `"0o17"`, "0b1": `"0b1"`, "1_000": `"1_000"`, "1:30": `"1:30"`, "12e": `"12e"`,
		"1.2.3": `"1.2.3"`, "+": `"+"`, ".": `"."`, "+-1": `"+-1"`, "2031-02-03": `"2031-02-03"`, "=": `"="`, "<<": `"<<"`,
		`"yes"`: `"yes"`, `'5'`: `"5"`, `"\u00e9\n"`: `"é\n"`, "!!str 5": `"5"`, "!!int 5": "5", "!!float 5.0": "5.0", "!!bool on": "true",
		"|-\n  5": `"5"`, ">\n  a\n  b": `"a b\n"`, "plain words # note": `"plain words"`,
	} {
		got, err := DecodeYAML("t.yaml", []byte("v: "+in+"\n"))
		if err != nil || got.String() != `{"v":`+want+`}` {
			t.Errorf("%q: got %s, %v, want %s", in, got, err, want)
		}
	}
}

// TestAccepted shows what else a document may have.
func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, doc, want string }{
		{"BOM and CRLF", "\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\nt: |\r\n  l1\r\n  l2\r\n", `{"a":1,"b":["x"],"t":"l1\nl2\n"}`},
		{"markers", "%YAML 1.1\n---\na: 1\n...\n", `{"a":1}`},
		{"keys are text", "yes: 1\n5: 2\n~: 3\n'<<': 4\n", `{"5":2,"<<":4,"yes":1,"~":3}`},
		{"alias", "a: &x [1, 2]\nb: *x\n", `{"a":[1,2],"b":[1,2]}`},
		{"alias as key", "a: &k name\n*k : 1\n", `{"a":"name","name":1}`},
		{"merge", "d: &d {a: 1, b: 2}\nx:\n  b: 3\n  <<: *d\n", `{"d":{"a":1,"b":2},"x":{"a":1,"b":3}}`},
		{"merge before the key", "d: &d {a: 1, b: 2}\nx:\n  <<: *d\n  b: 3\n", `{"d":{"a":1,"b":2},"x":{"a":1,"b":3}}`},
		{"merge list, first wins", "x:\n  <<: [{a: 1}, {a: 2, b: 2}]\n", `{"x":{"a":1,"b":2}}`},
		{"merge in a merge", "a: &a {p: 1, q: 1}\nb: &b {q: 2, <<: *a}\nc: {<<: *b, r: 3}\n", `{"a":{"p":1,"q":1},"b":{"p":1,"q":2},"c":{"p":1,"q":2,"r":3}}`},
		{"tabs where they may be", "a:\tb\nt: |\n  x\n  \ty\nf: [\n\t1,\n\t2]\nq: \"a\n\tb\"\n", `{"a":"b","f":[1,2],"q":"a b","t":"x\n\ty\n"}`},
		{"deepest", "a: " + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1), `{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`},
		{"1000 alias nodes", "a: &a [" + strings.Repeat("1,", 98) + "1]\nb: [" + strings.Repeat("*a,", 9) + "*a]\n", ""},
		{"raw text", "a: \"é\U0001F600 < > & /\"\n", "{\"a\":\"é\U0001F600 < > & /\"}"},
	} {
		got, err := DecodeYAML("t.yaml", []byte(c.doc))
		if err != nil || c.want != "" && got.String() != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
	}
}

// TestLines shows that nodes keep their places.
func TestLines(t *testing.T) {
	t.Parallel()
	tree, err := ParseYAML("t.yaml", []byte("a:\n  - x\n  -\n    k: |\n      text\nb: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	k := tree.Root.Get("a").Items[1]
	if k.Line != 4 || k.Members[0].Line != 4 || tree.Root.Get("b").Line != 6 {
		t.Errorf("lines %d %d %d", k.Line, k.Members[0].Line, tree.Root.Get("b").Line)
	}
}

// TestJSONTree shows that a JSON document gives the same tree as its YAML.
func TestJSONTree(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{}`, `{"a":[1,-2,3.5,true,false,null,"x\u00e9\ud83d\ude00"],"b":{"c":{}},"d":[]}`} {
		tree, err := ParseJSON("m.json", []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := state.ParseValue([]byte(doc))
		if tree.JSON() != want {
			t.Errorf("got %s, want %s", tree.JSON(), want)
		}
	}
	for _, doc := range []string{``, `[]`, `5`, `{"a":1,"a":2}`, `{"a":1} x`, `{"a":"` + "\xff" + `"}`, `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`} {
		_, err := ParseJSON("m.json", []byte(doc))
		if _, ok := err.(*Error); !ok {
			t.Errorf("%.20s: got %v", doc, err)
		}
	}
}

// TestJSONIsYAML is a property: what this package writes as JSON reads back the same,
// as JSON and as YAML.
func TestJSONIsYAML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"yes", "no", "~", "", "5", "0x1", "1e3", ".inf", "<<", "a b", "- x", "é", "#", "'", "\"", "\\", "{", ": ", "x\ny", "\t"})
		var doc strings.Builder
		doc.WriteString("root:\n")
		var want []string
		for i := range rapid.IntRange(1, 8).Draw(t, "n") {
			w := words.Draw(t, "word")
			quoted, _ := jsontext.AppendQuote(nil, w)
			fmt.Fprintf(&doc, "  k%d: %s\n", i, quoted)
			want = append(want, fmt.Sprintf(`"k%d":%s`, i, quoted))
		}
		got, err := DecodeYAML("t.yaml", []byte(doc.String()))
		if err != nil || got.String() != `{"root":{`+strings.Join(want, ",")+`}}` {
			t.Fatalf("%s\n%v\n%s", got, err, doc.String())
		}
		again, err := DecodeYAML("t.yaml", got.Bytes())
		if err != nil || again != got {
			t.Fatalf("second pass: %s, %v", again, err)
		}
	})
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x [*x]", "? {}", "a: [1, {b: c}]\n<<: {d: e}", "a: |\n\tx", "\xef\xbb\xbfa:\r\n b", "- 1", "---\n---", "a: !!int 5", "a: 'x", bomb(4)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, err := ParseYAML("fuzz.yaml", raw)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Line < 1 || e.Message == "" {
				t.Fatalf("an error without place: %#v", err)
			}
			return
		}
		if again, err := ParseJSON("fuzz.json", tree.JSON().Bytes()); err != nil || again.JSON() != tree.JSON() {
			t.Fatalf("%s does not read back: %v", tree.JSON(), err)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, err := ParseJSON("f", raw)
		if err == nil && tree.JSON().String() == "" {
			t.Fatal("no JSON")
		}
	})
}
