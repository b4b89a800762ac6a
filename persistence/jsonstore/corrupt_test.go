package jsonstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/storetest"
)

// BR-023: a document cut anywhere is an error that says so, and stays as it is. It is
// never taken for an empty or a shorter session.
func TestCutDocument(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(10))
	path := statePath(root)
	whole := mustRead(t, path)
	store := mustOpen(t, config(root))
	for cut := 0; cut < len(whole)-1; cut += 1 + cut/40 { // all but the final newline
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := store.Load(t.Context())
		corrupt, ok := errors.AsType[*persistence.CorruptError](err)
		if st != nil || !ok || corrupt.Path != path {
			t.Fatalf("cut at %d: %v, %v", cut, st, err)
		}
		if !corrupt.Cut || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut at %d: the message does not say so: %v", cut, err)
		}
		if mustRead(t, path) != whole[:cut] {
			t.Fatalf("cut at %d: the file was changed", cut)
		}
	}
}

func TestDamagedDocument(t *testing.T) {
	t.Parallel()
	whole := storetest.Text(t, storetest.Session(1))
	for name, raw := range map[string]string{
		"no JSON":          "session: 1\n",
		"zero bytes":       strings.Repeat("\x00", 4096),
		"array":            "[]\n",
		"null":             "null\n",
		"empty object":     "{}\n",
		"text after it":    whole + "{}\n",
		"two documents":    whole + whole,
		"comment":          "// note\n" + whole,
		"invalid UTF-8":    strings.Replace(whole, "turn 0", "turn \xff", 1),
		"duplicate key":    strings.Replace(whole, "{", `{"tools": [],`, 1),
		"turns no array":   strings.Replace(whole, `"turns": [`, `"turns": 1, "x": [`, 1),
		"unknown phase":    strings.Replace(whole, `"phase": "ready"`, `"phase": "asleep"`, 1),
		"id of wrong type": strings.Replace(whole, `"session_id": "suite"`, `"session_id": 1`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if raw == whole {
				t.Fatal("the case changes nothing")
			}
			root := t.TempDir()
			store := mustOpen(t, config(root))
			if err := os.WriteFile(statePath(root), []byte(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			st, err := store.Load(t.Context())
			corrupt, ok := errors.AsType[*persistence.CorruptError](err)
			if st != nil || !ok || corrupt.Path != statePath(root) || !strings.Contains(err.Error(), statePath(root)) {
				t.Errorf("%v, %v", st, err)
			}
			if mustRead(t, statePath(root)) != raw {
				t.Error("the file was changed")
			}
		})
	}
}

func TestDocumentThatIsNoRegularFile(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(path, good string) error{
		"link":      func(path, good string) error { return os.Symlink(good, path) },
		"dangling":  func(path, good string) error { return os.Symlink("nowhere", path) },
		"directory": func(path, good string) error { return os.Mkdir(path, 0o700) },
		"fifo":      func(path, good string) error { return syscall.Mkfifo(path, 0o600) },
		"socket":    func(path, good string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			store := mustOpen(t, config(root))
			good := filepath.Join(root, "good.json")
			err := os.WriteFile(good, []byte(storetest.Text(t, storetest.Session(1))), 0o600)
			if err := errors.Join(err, place(statePath(root), good)); err != nil {
				t.Fatal(err)
			}
			st, err := store.Load(t.Context())
			if _, ok := errors.AsType[*persistence.CorruptError](err); st != nil || !ok || !errors.Is(err, durable.ErrNotRegular) {
				t.Errorf("%v, %v", st, err)
			}
		})
	}
}

// A byte order mark is no damage.
func TestByteOrderMarkIsSkipped(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	want := storetest.Text(t, storetest.Session(2))
	store := mustOpen(t, config(root))
	if err := os.WriteFile(statePath(root), []byte("\ufeff"+want), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Load(t.Context())
	if err != nil || storetest.Text(t, st) != want {
		t.Errorf("%v", err)
	}
}

// A session that the SQLite store keeps is not taken for none.
func TestOnlyTheOtherFormatIsThere(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store := mustOpen(t, config(root))
	if err := os.WriteFile(filepath.Join(root, "state", "state.db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Load(t.Context())
	other, ok := errors.AsType[*persistence.OtherFormatError](err)
	if st != nil || !ok || other.Format != "sqlite" || !strings.HasSuffix(other.Path, "state.db") {
		t.Errorf("%v, %v", st, err)
	}
}
