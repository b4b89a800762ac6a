package sessionroot_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sessionroot"
)

func TestOneOwnerAtATime(t *testing.T) {
	t.Parallel()
	cfg := sessionroot.Config{Root: filepath.Join(t.TempDir(), "new", "session"), LockWait: -1}
	first, err := sessionroot.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := first.State.Path(), filepath.Join(cfg.Root, "state"); got != want {
		t.Errorf("state directory %s, want %s", got, want)
	}
	if _, err := sessionroot.Open(cfg); !errors.Is(err, persistence.ErrInUse) {
		t.Errorf("a second owner: %v", err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	again, err := sessionroot.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// The lock comes first: one who does not get it touches nothing in the state directory.
func TestStaleFilesAreTheOwnersToRemove(t *testing.T) {
	t.Parallel()
	cfg := sessionroot.Config{Root: t.TempDir(), StateDir: "s", LockWait: -1}
	owner, err := sessionroot.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(cfg.Root, "s", durable.TempPrefix+"abc123")
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sessionroot.Open(cfg); err == nil {
		t.Fatal("two owners")
	}
	if _, err := os.Stat(stale); err != nil {
		t.Error("removed without the lock")
	}
	_ = owner.Close()
	if owner, err = sessionroot.Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := os.Stat(stale); err == nil {
		t.Error("the owner left it")
	}
}

func TestLinkIsRefusedAndTheLockGivenBack(t *testing.T) {
	t.Parallel()
	cfg := sessionroot.Config{Root: t.TempDir(), LockWait: -1}
	if err := os.Symlink(t.TempDir(), filepath.Join(cfg.Root, "state")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second would be "in use" if the first kept the lock
		if _, err := sessionroot.Open(cfg); err == nil || errors.Is(err, persistence.ErrInUse) {
			t.Errorf("%v", err)
		}
	}
}

// What cannot be made is told with the directory that is at fault, not with the one that
// was asked for.
func TestTheDirectoryAtFaultIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	under := filepath.Join(file, "data", "session")
	for _, tc := range []struct {
		root  string
		errno syscall.Errno
		want  string
	}{
		{under, syscall.ENOTDIR, "the session directory " + under + " cannot be made in " + file + ": not a directory"},
		{file, syscall.ENOTDIR, "open session directory " + file + ": not a directory"},
		{"/proc/session/of/mine", syscall.ENOENT, "the session directory /proc/session/of/mine cannot be made in /proc: no such file or directory"},
	} {
		_, err := sessionroot.Open(sessionroot.Config{Root: tc.root, LockWait: -1})
		if !errors.Is(err, tc.errno) || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("got  %v\nwant %s", err, tc.want)
		}
	}
}

// A place that must not be written, for the lack of permission or as a read-only file
// system, is named, too.
func TestTheDirectoryThatMustNotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EROFS} {
		root := filepath.Join(dir, "data", "session")
		_, err := sessionroot.Open(sessionroot.Config{Root: root, LockWait: -1, Hook: func(label string, _ durable.Op) error {
			if label == durable.LabelDirMake {
				return errno
			}
			return nil
		}})
		if want := "the session directory " + root + " cannot be made in " + dir + ": " + errno.Error(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
