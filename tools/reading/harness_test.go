package reading_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/reading"
)

var update = flag.Bool("update", false, "write schema/bundle.json anew")

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// decodeYAML is what the host gives in.
func decodeYAML(_ string, raw []byte) (state.Value, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return state.Value{}, err
	}
	return state.ValueOf(v)
}

// bench is a registry with the tool.
type bench struct {
	tb       testing.TB
	registry *tools.Registry
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	return benchOf(tb, reading.Config{})
}

func benchOf(tb testing.TB, cfg reading.Config) *bench {
	tb.Helper()
	b := &bench{tb: tb, registry: tools.NewRegistry(nil)}
	set, err := reading.New(cfg)
	must(tb, err)
	must(tb, b.registry.Add(set))
	return b
}

// limited is a bench whose declaration has another config.
func limited(tb testing.TB, config string) *bench {
	tb.Helper()
	raw, err := os.ReadFile("schema/read_text.yaml")
	must(tb, err)
	_, rest, _ := strings.Cut(string(raw), "  max_output_bytes: 65536\n")
	head, _, _ := strings.Cut(string(raw), "config:\n")
	dir := tb.TempDir()
	must(tb, os.WriteFile(filepath.Join(dir, "read_text.yaml"), []byte(head+"config: "+config+"\n"+rest), 0o600))
	return benchOf(tb, reading.Config{SchemaDir: dir, DecodeYAML: decodeYAML})
}

// call runs a call that nobody approved.
func (b *bench) call(members ...any) (state.Call, state.Result) {
	b.tb.Helper()
	var args []state.Member
	for i := 0; i < len(members); i += 2 {
		v, err := state.ValueOf(members[i+1])
		must(b.tb, err)
		args = append(args, state.Member{Name: members[i].(string), Value: v})
	}
	settled, run := b.registry.Prepare(state.Call{ID: "c", Name: "read_text", Arguments: state.ObjectFrom(args).Value}, nil)
	res := run(context.Background())
	if !utf8.ValidString(res.Output.Raw) || strings.ContainsRune(res.Output.Raw, 0) {
		b.tb.Errorf("unfit to be shown: %q", res.Output.Raw)
	}
	return settled, res
}

// ok makes a call that must not be an error, and gives its text.
func (b *bench) ok(members ...any) string {
	b.tb.Helper()
	_, res := b.call(members...)
	if tools.IsError(res) {
		b.tb.Fatalf("%v: %s", members, res.Output.Raw)
	}
	return res.Output.Raw
}

// fails makes a call that must fail, and gives stage and bare message.
func (b *bench) fails(members ...any) (stage, message string) {
	b.tb.Helper()
	_, res := b.call(members...)
	e, _ := res.Extras.Get("error")
	o, err := e.Object()
	if err != nil {
		b.tb.Fatalf("%v did not fail: %s", members, res.Output.Raw)
	}
	s, _ := o.Get("stage")
	m, _ := o.Get("message")
	stage, _ = s.Text()
	message, _ = m.Text()
	return stage, message
}

// body is the text block of a result, without the newline that the layout adds.
func body(tb testing.TB, text string) string {
	tb.Helper()
	if strings.HasSuffix(text, "\ntext: (empty)\n") {
		return ""
	}
	at := strings.Index(text, "\n\ntext (")
	if at < 0 {
		tb.Fatalf("no text block in %q", text)
	}
	_, block, _ := strings.Cut(text[at+2:], "\n")
	return block
}

// field finds a field's value.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "[["+name+"]]: "); ok {
			return strings.TrimSuffix(value, "\n")
		}
	}
	return ""
}

func file(tb testing.TB, content string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	must(tb, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func contains(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%q is missing in:\n%.2000s", part, text)
		}
	}
}
