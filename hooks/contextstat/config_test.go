package contextstat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, parts ...string) {
	t.Helper()
	path := filepath.Join(parts[:len(parts)-1]...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(parts[len(parts)-1]), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	env, exe := t.TempDir(), t.TempDir()
	if _, data, err := Source(env, exe); err != nil || !bytes.Equal(data, Shipped()) {
		t.Errorf("shipped: %q, %v", data, err)
	}
	if _, data, err := Source("", ""); err != nil || !bytes.Equal(data, Shipped()) {
		t.Errorf("no places: %q, %v", data, err)
	}
	put(t, exe, "schemas", "loop", "context_statistic", "config.yaml", "beside")
	if name, data, err := Source(env, exe); err != nil || string(data) != "beside" || !strings.HasPrefix(name, exe) {
		t.Errorf("beside the program: %s, %q, %v", name, data, err)
	}
	put(t, env, "context_statistic", "config.yaml", "variable")
	if name, data, err := Source(env, exe); err != nil || string(data) != "variable" || !strings.HasPrefix(name, env) {
		t.Errorf("by variable: %s, %q, %v", name, data, err)
	}
	if _, data, err := Source("", exe); err != nil || string(data) != "beside" {
		t.Errorf("variable unset: %q, %v", data, err)
	}
	blocked := t.TempDir()
	put(t, blocked, "context_statistic", "config.yaml", "inner", "a directory where the file should be")
	if _, data, err := Source(blocked, exe); err == nil {
		t.Errorf("an unreadable file was passed over: %q", data)
	}
}
