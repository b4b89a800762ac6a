package editing_test

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
	"simplex/tools/editing"
)

var update = flag.Bool("update", false, "write schema/bundle.json anew")

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
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

func newRegistry(t tester, hook editing.Hook) *tools.Registry {
	t.Helper()
	set, err := editing.New(editing.Config{Hook: hook})
	must(t, err)
	r := tools.NewRegistry(nil)
	must(t, r.Add(set))
	return r
}

// edit makes an approved call.
func edit(t tester, r *tools.Registry, path, old, text string, more ...state.Member) state.Result {
	t.Helper()
	args := append([]state.Member{
		{Name: "path", Value: state.StringValue(path)},
		{Name: "old_text", Value: state.StringValue(old)},
		{Name: "new_text", Value: state.StringValue(text)},
	}, more...)
	call := state.Call{ID: "c", Name: "str_replace_edit", Arguments: state.ObjectFrom(args).Value}
	_, run := r.Prepare(call, func(context.Context, state.Call) (bool, string) { return true, "" })
	res := run(context.Background())
	if !utf8.ValidString(res.Output.Raw) || strings.ContainsRune(res.Output.Raw, 0) {
		t.Errorf("unfit to be shown: %q", res.Output.Raw)
	}
	return res
}

// contextLines is the argument of that name.
func contextLines(n uint64) state.Member {
	return state.Member{Name: "context_lines", Value: state.UintValue(n)}
}

// ok makes an edit that must not be an error, and gives its text.
func ok(t tester, r *tools.Registry, path, old, text string, more ...state.Member) string {
	t.Helper()
	res := edit(t, r, path, old, text, more...)
	if tools.IsError(res) {
		t.Fatalf("%s", res.Output.Raw)
	}
	return res.Output.Raw
}

// fails makes an edit that must fail when it is run, and gives the bare message.
func fails(t tester, r *tools.Registry, path, old, text string) string {
	t.Helper()
	res := edit(t, r, path, old, text)
	e, _ := res.Extras.Get("error")
	o, err := e.Object()
	if err != nil {
		t.Fatalf("did not fail: %s", res.Output.Raw)
	}
	stage, _ := o.Get("stage")
	if stage != state.StringValue("invoke") {
		t.Errorf("failed at %s", stage)
	}
	m, _ := o.Get("message")
	message, _ := m.Text()
	return message
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// holds checks a file's content, and that nothing else stands beside it.
func holds(t tester, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", filepath.Base(path), got, want)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".simplex-edit-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
}

func contains(t tester, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%.3000s", part, text)
		}
	}
}

// block is the body of the block of that name.
func block(text, name string) string {
	_, rest, _ := strings.Cut(text, "\n"+name+" (")
	_, rest, _ = strings.Cut(rest, "\n")
	rest, _, _ = strings.Cut(rest, "\n\nafter")
	return rest
}
