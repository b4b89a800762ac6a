package statefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/internal/safepath"
	"simplex/manager/statefile"
)

// A file is copied as it was checked, or not at all.
func TestFileIsReadTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *safepath.File {
		t.Helper()
		root, err := safepath.Ops{}.Root(safepath.Search)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		dir, err := root.Descend(strings.TrimPrefix(filepath.Dir(path), "/"), safepath.Search)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		f, err := dir.Open(filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	write("{\n  \"a\": 1\n}\n")
	f, err := statefile.Check(open(), statefile.CheckObject)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var out strings.Builder
		if err := f.CopyTo(&out, statefile.CopyObject); err != nil || out.String() != `{"a":1}` {
			t.Errorf("%v: %q", err, out.String())
		}
	}
	write("{\n  \"a\": 2\n}\n")
	if err := f.CopyTo(&strings.Builder{}, statefile.CopyObject); err == nil {
		t.Error("another content is copied")
	}
	write("{")
	if _, err := statefile.Check(open(), statefile.CheckObject); !errors.Is(err, statefile.ErrContent) {
		t.Errorf("half an object: %v", err)
	}
	var missing *statefile.File
	var out strings.Builder
	if err := missing.CopyTo(&out, statefile.CopyText); err != nil || out.String() != "null" {
		t.Errorf("%v: %q", err, out.String())
	}
}
