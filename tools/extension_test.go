package tools_test

import (
	"errors"
	"path/filepath"
	"testing"

	"simplex/tools"
)

func TestExtensionConfigIsClosed(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"name":"noop","description":"d"}`:                      "",
		`{"name":"noop","description":"d","config":{"a":1}}`:     "",
		`{"name":"noop","description":"d","config":null}`:        "/config",
		`{"name":"noop","description":"d","argument_schema":{}}`: "/argument_schema",
		`{"name":"other","description":"d"}`:                     "/name",
		`{"name":7,"description":"d"}`:                           "/name",
		`{"description":"d"}`:                                    "/name",
		`{"name":"noop"}`:                                        "/description",
		`[]`:                                                     "/",
	} {
		e, err := tools.DecodeExtension("config.yaml", "noop", value(t, doc))
		got := ""
		if de, ok := errors.AsType[*tools.DeclarationError](err); ok {
			got = de.Path
		}
		if got != want || (err == nil && !e.Config.IsSet()) {
			t.Errorf("%s: %v, want a fault at %q", doc, err, want)
		}
	}
}

func TestExtensionToolsAreNamedLikeTheirFiles(t *testing.T) {
	t.Parallel()
	doc := value(t, `{"name":"noop_probe","description":"d","argument_schema":{"type":"object"}}`)
	if _, err := tools.DecodeExtensionTool("dir/noop_probe.yaml", doc); err != nil {
		t.Error(err)
	}
	if _, err := tools.DecodeExtensionTool("dir/other.yaml", doc); err == nil {
		t.Error("a tool with another name than its file was taken")
	}
}

func TestExtensionDir(t *testing.T) {
	t.Setenv(tools.ExtensionEnv, "/env")
	for root, want := range map[string]string{"": "/env/set", "/given": "/given/set"} {
		if got, err := tools.ExtensionDir(root, "set"); err != nil || got != want {
			t.Errorf("%q: %s, %v", root, got, err)
		}
	}
	t.Setenv(tools.ExtensionEnv, "")
	got, err := tools.ExtensionDir("", "set")
	must(t, err)
	if tail := filepath.Join("schemas", "tools", "extensions", "set"); !filepath.IsAbs(got) || filepath.Base(got) != "set" || got[len(got)-len(tail):] != tail {
		t.Errorf("beside the executable: %s", got)
	}
}
