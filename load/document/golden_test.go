package document

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
		"../../config.example.yaml": "testdata/config.example.json",
		"testdata/forms.yaml":       "testdata/forms.json",
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
