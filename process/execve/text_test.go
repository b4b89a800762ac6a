package execve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTextFileHoldsTheTextAndClosesOnExec(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a longer line than an argument may be\n", 1<<14)
	fd, err := TextFile(text)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "text")
	defer func() { _ = file.Close() }()
	got := make([]byte, len(text)+1)
	if n, _ := file.ReadAt(got, 0); string(got[:n]) != text {
		t.Errorf("%d of %d bytes", n, len(text))
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %x, %v", flags, err)
	}
}

func TestCheckDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{"": nil, dir: nil, file: unix.ENOTDIR, file + "x": fs.ErrNotExist} {
		if err := CheckDirectory(path); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", path, err, want)
		}
	}
}
