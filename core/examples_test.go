package core

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"simplex/hooks"
	"simplex/load"
	"simplex/load/document"
	"simplex/state"
)

// TestExamplesLoad reads every example as `simplex chat --config` does.
func TestExamplesLoad(t *testing.T) {
	t.Parallel()
	env := load.Env{Getenv: func(name string) (string, bool) { return "k", strings.HasSuffix(name, "_API_KEY") }}
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range append(files, "../examples/plugins/config.yaml") {
		cfg, err := load.Load(file, load.Options{Env: env, ClientOptional: true})
		if err != nil || len(cfg.Warnings) > 0 {
			t.Errorf("%s: %v, %v", file, err, cfg)
		}
	}
}

// TestExamplePlugins starts the plugins of examples/plugins: the server's tool is offered
// and answers, and the hook hears the end of a run.
func TestExamplePlugins(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../examples/plugins")); err != nil {
		t.Fatal(err)
	}
	app, err := New(Config{SessionID: "s", Env: load.Env{Getenv: os.LookupEnv}, Worker: withClient(t, filepath.Join(dir, "config.yaml"))})
	if err != nil {
		t.Fatal(err)
	}
	told := false
	defer func() {
		if !told {
			_ = app.Close()
		}
	}()
	tools := app.session.st.Tools
	if !slices.ContainsFunc(tools, func(tool state.Tool) bool { return tool.Name == "time_in_zone" }) {
		t.Fatalf("tools %v", tools)
	}
	arguments, _ := state.ParseObject([]byte(`{"zone":"UTC"}`))
	_, run := app.tools.Prepare(state.Call{ID: "c", Name: "time_in_zone", Arguments: arguments.Value}, nil)
	if got := run(t.Context()).Output.Raw; !strings.Contains(got, "+00:00") {
		t.Errorf("the clock says %s", got)
	}
	if err := app.hooks.Dispatch(context.Background(), &hooks.Event{Name: hooks.RunFinished, State: app.session.st}); err != nil {
		t.Error(err)
	}
	told = true
	if err := app.Close(); err != nil { // the hook's program writes what it has heard
		t.Error(err)
	}
	journal, err := os.ReadFile(filepath.Join(dir, "data", "journal.txt"))
	if err != nil || !strings.HasSuffix(string(journal), " a run has ended\n") {
		t.Errorf("the journal: %q, %v", journal, err)
	}
}

// withClient loads a configuration for chat and names a Hub that nobody connects to.
func withClient(t *testing.T, file string) *load.Config {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := document.ParseYAML(file, raw)
	if err != nil {
		t.Fatal(err)
	}
	var none *document.Node
	tree.Root = tree.Root.With("client", none.With("endpoint", document.TextNode("ws://127.0.0.1:1/")))
	cfg, err := load.FromTree(tree, load.Options{BaseDir: filepath.Dir(file)})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
