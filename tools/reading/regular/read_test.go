package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/tools/reading/regular"
)

// patience is for what comes at once on an idle machine.
const patience = 10 * time.Second

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("12345"), 0o600))
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("file", link))
	for _, path := range []string{file, link} {
		got, err := regular.Read(path, 5)
		if err != nil || string(got) != "12345" {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	_, err := regular.Read(file, 4)
	size, ok := errors.AsType[*regular.SizeError](err)
	if !ok || size.Size != 5 || size.Limit != 4 || !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := regular.Read(filepath.Join(dir, "none"), 4); !errors.Is(err, unix.ENOENT) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"", "a\x00b"} {
		if _, err := regular.Read(path, 4); !errors.Is(err, regular.ErrPath) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A file of the kernel has no size, and an empty one has no bytes.
func TestSizeIsOnlyAHint(t *testing.T) {
	t.Parallel()
	got, err := regular.Read("/proc/self/status", 1<<16)
	if err != nil || !strings.HasPrefix(string(got), "Name:") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := regular.Read("/proc/self/status", 10); !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// Nothing that could block or never end is waited for.
func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	must(t, unix.Mkfifo(fifo, 0o600))
	l, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	for path, word := range map[string]string{
		fifo: "FIFO", socket: "socket", dir: "directory", "/dev/zero": "device", "/dev/null": "device",
	} {
		began := time.Now()
		_, err := regular.Read(path, 1<<20)
		kind, ok := errors.AsType[*regular.KindError](err)
		if !ok || !strings.Contains(kind.Kind, word) || !errors.Is(err, regular.ErrKind) {
			t.Errorf("%s: %v", path, err)
		}
		if d := time.Since(began); d > patience {
			t.Errorf("%s took %v", path, d)
		}
	}
}

func TestHugeFileIsRefusedUnread(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "huge")
	f, err := os.Create(path)
	must(t, err)
	must(t, f.Truncate(3<<30))
	must(t, f.Close())
	began := time.Now()
	_, err = regular.Read(path, 16<<20)
	if size, ok := errors.AsType[*regular.SizeError](err); !ok || size.Size != 3<<30 {
		t.Errorf("%v", err)
	}
	if d := time.Since(began); d > patience {
		t.Errorf("took %v", d)
	}
}
