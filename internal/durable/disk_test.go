package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// BR-024 on a real file system of 192 KiB, mounted in the child's own namespace.
func TestFullDiskKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	child := childCommand(t, "full-disk", t.TempDir())
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := child.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Log("no permission to mount: only the file size limit is tried")
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func childFullDisk(args []string) error {
	if err := unix.Mount("tmpfs", args[0], "tmpfs", 0, "size=192k"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	path := filepath.Join(args[0], "file")
	if err := durable.Publish(path, writer(oldContent)); err != nil {
		return err
	}
	if err := refused(args[0], unix.ENOSPC); err != nil {
		return err
	}
	// With room again, the same path can be published.
	return durable.Publish(path, writer([]byte("short")))
}

// The same where nothing can be mounted: no file may grow beyond a limit.
func TestFileSizeLimitKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	if out, err := childCommand(t, "file-size", t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func childFileSize(args []string) error {
	if err := durable.Publish(filepath.Join(args[0], "file"), writer(oldContent)); err != nil {
		return err
	}
	limit := uint64(len(newContent) / 2)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	return refused(args[0], unix.EFBIG)
}

// refused publishes what does not fit and checks that nothing came of it.
func refused(dir string, want unix.Errno) error {
	path := filepath.Join(dir, "file")
	err := durable.Publish(path, writer(newContent))
	if pe, ok := errors.AsType[*durable.PublishError](err); !ok || pe.Published || !errors.Is(err, want) {
		return fmt.Errorf("publish on a full disk: %w", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(raw, oldContent) {
		return fmt.Errorf("the old content is gone: %d bytes, %w", len(raw), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		return fmt.Errorf("left behind: %v, %w", entries, err)
	}
	return nil
}
