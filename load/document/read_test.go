package document_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/load/document"
)

// TestRead shows what is no document: what never ends, what nobody writes to, and
// what is larger than any configuration.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"most": document.MaxBytes, "more": document.MaxBytes + 1} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(at(name), size); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/dev/zero": "/dev/zero: is a device, not a regular file",
		at("fifo"):  at("fifo") + ": is a named pipe, not a regular file",
		dir:         dir + ": is a directory, not a regular file",
		at("more"):  at("more") + ": is larger than 16 MiB",
		at("none"):  "no such file or directory",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := document.Read(path)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still reading", path)
		}
	}
	if raw, err := document.Read(at("most")); err != nil || len(raw) != document.MaxBytes {
		t.Errorf("the largest one: %d bytes, %v", len(raw), err)
	}
}

// TestReadDescriptor is `--config <(…)` of a shell.
func TestReadDescriptor(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.WriteString(w, "a: 1\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	raw, err := document.Read(filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))))
	if err != nil || string(raw) != "a: 1\n" {
		t.Errorf("%q, %v", raw, err)
	}
}
