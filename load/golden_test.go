package load

import (
	"encoding/json/jsontext"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestConvertedExample keeps the JSON of config.example.yaml and of a document with
// every form of the conversion table as goldens.
func TestConvertedExample(t *testing.T) {
	t.Parallel()
	for source, golden := range map[string]string{
		"../config.example.yaml": "testdata/config.example.json",
		"testdata/forms.yaml":    "testdata/forms.json",
	} {
		raw, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodeYAML(source, raw)
		if err != nil {
			t.Fatal(err)
		}
		got := jsontext.Value(v.Bytes())
		if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s: %s", source, d)
		}
	}
}

// FuzzFromTree shows that no document makes the checker or the builder panic.
func FuzzFromTree(f *testing.F) {
	f.Add([]byte(minimal))
	raw, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("driver_model: m\nproviders: {m: {model: x, endpoint: {extra_headers: {a: $}}}}\nclient: {endpoint: 'ws://h'}\nplugins: {extensions: {tools: {enable: [{name: a}]}}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg, err := fromText(string(raw), Options{Env: environment(map[string]string{"DEEPSEEK_API_KEY": "k"})})
		if (cfg == nil) == (err == nil) {
			t.Fatalf("%v, %v", cfg, err)
		}
		if cfg != nil {
			cfg.Driver.Factory()
		}
		_, _ = ParsePrompt("p.yaml", raw)
	})
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"ws://h:1/a?b", "wss://[::1]:2", "ws://[fe80::1%25a]", "ws://?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ep, err := ParseEndpoint(s)
		if err != nil {
			return
		}
		if again, err := ParseEndpoint(ep.String()); err != nil || again != ep {
			t.Fatalf("%q becomes %q: %+v, %v", s, ep.String(), again, err)
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
