package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"simplex/load"
	"simplex/load/document"
)

func TestIntrinsicHook(t *testing.T) {
	t.Parallel()
	write := func(dir, text string) string {
		file := filepath.Join(dir, "context_statistic", "config.yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	read := func(dir, exe string) (uint64, error) {
		env := environment(map[string]string{hookDirVariable: dir})
		env.ExeDir = exe
		return IntrinsicHook("context_statistic", env)
	}
	exe := t.TempDir()
	if n, err := read("", exe); n != 128000 || err != nil {
		t.Errorf("built in: %d, %v", n, err)
	}
	write(filepath.Join(exe, "schemas", "loop"), "name: context_statistic\nconfig: {context_window_tokens: 7}")
	if n, err := read("", exe); n != 7 || err != nil {
		t.Errorf("beside the executable: %d, %v", n, err)
	}
	if n, err := read(write(t.TempDir(), "description: x\nconfig: {}"), exe); n != 128000 || err != nil {
		t.Errorf("by the variable: %d, %v", n, err)
	}
	if _, err := read(t.TempDir(), exe); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("variable without file: %v", err)
	}
	blocked := t.TempDir()
	write(filepath.Join(blocked, "context_statistic", "config.yaml"), "") // a directory where the file should be
	if _, err := read(blocked, exe); err == nil {
		t.Error("a file that cannot be read was passed over")
	}
	installed := t.TempDir()
	write(filepath.Join(installed, "schemas", "loop", "context_statistic", "config.yaml"), "")
	if _, err := read("", installed); err == nil {
		t.Error("one beside the executable was passed over")
	}
	for text, path := range map[string]string{
		"name: other": "/name", "name: on": "/name", "description: 5": "/description", "extra: 1": "/extra", "config:": "/config", "config: {x: 1}": "/config/x", "": "",
		"config: {context_window_tokens: 0}": "/config/context_window_tokens", "config: {context_window_tokens: 1.0}": "/config/context_window_tokens", "config: {context_window_tokens: '5'}": "/config/context_window_tokens",
	} {
		_, err := read(write(t.TempDir(), text), exe)
		var e *document.Error
		if !errors.As(err, &e) || e.Line != 1 || e.Path != path {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := IntrinsicHook("../x", load.Env{}); err == nil {
		t.Error("a path as a name")
	}
}
