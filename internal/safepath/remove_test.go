package safepath_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
)

func TestRemoveTree(t *testing.T) {
	t.Parallel()
	for variant, ops := range variants() {
		root := t.TempDir()
		outside := filepath.Join(t.TempDir(), "kept")
		write(t, outside)
		tree := filepath.Join(root, "tree")
		write(t, filepath.Join(tree, "a/b/c"))
		must(t, os.Symlink(filepath.Dir(outside), filepath.Join(tree, "a/link")), os.Symlink(outside, filepath.Join(tree, "file-link")))
		must(t, os.MkdirAll(filepath.Join(tree, "closed/in"), 0o700), os.Chmod(filepath.Join(tree, "closed"), 0))
		for i := range 1000 {
			write(t, filepath.Join(tree, "wide", fmt.Sprint(i)))
		}
		d := open(t, ops, root)
		must(t, d.RemoveTree("tree"), d.RemoveTree("tree"))
		if _, err := os.Lstat(tree); err == nil {
			t.Errorf("%s: it is still there", variant)
		}
		if _, err := os.Stat(outside); err != nil {
			t.Errorf("%s: %v", variant, err)
		}
		must(t, os.Symlink(filepath.Dir(outside), tree), d.RemoveTree("tree"))
		if _, err := os.Stat(outside); err != nil {
			t.Errorf("%s: through a link: %v", variant, err)
		}
	}
}

// Depth costs no descriptors and no stack.
func TestRemoveDeepTree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	for range 2000 {
		must(t, unix.Mkdirat(at, "d", 0o700))
		next, err := unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(t, err, unix.Close(at))
		at = next
	}
	must(t, unix.Close(at))
	highest := 0
	calls := 0
	ops := safepath.Ops{Hook: func(_ string, op durable.Op) error {
		if calls++; calls%500 == 0 { // a descriptor's number is the lowest that is free
			if fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
				highest = max(highest, fd)
				_ = unix.Close(fd)
			}
		}
		return nil
	}}
	d := open(t, ops, root)
	must(t, d.RemoveTree("d"))
	if highest == 0 || highest > 128 {
		t.Errorf("descriptor %d was in use", highest)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("%v left, %v", entries, err)
	}
}

// A directory that another process keeps exchanging with a link leads nowhere else.
func TestRemoveWhileExchanged(t *testing.T) {
	t.Parallel()
	for variant, ops := range variants() {
		root := t.TempDir()
		outside := filepath.Join(t.TempDir(), "outside")
		for i := range 50 {
			write(t, filepath.Join(outside, fmt.Sprint(i)))
		}
		var stop atomic.Bool
		done := make(chan int)
		go func() {
			flips := 0
			for !stop.Load() {
				if unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, "tree/x"), unix.AT_FDCWD, filepath.Join(root, "link"), unix.RENAME_EXCHANGE) == nil {
					flips++
				}
			}
			done <- flips
		}()
		d := open(t, ops, root)
		for range 50 {
			write(t, filepath.Join(root, "tree/x/f"))
			_ = os.Remove(filepath.Join(root, "link"))
			_ = os.Symlink(outside, filepath.Join(root, "link")) // the exchange may have been quicker
			_ = d.RemoveTree("tree")                             // it may fail; it may not go astray
			_ = os.RemoveAll(filepath.Join(root, "tree"))
			if info, err := os.Lstat(filepath.Join(root, "link")); err == nil && info.IsDir() {
				_ = os.RemoveAll(filepath.Join(root, "link"))
			}
		}
		stop.Store(true)
		flips := <-done
		// The test's own writes may have gone through the link; what was there must be.
		for i := range 50 {
			if _, err := os.Stat(filepath.Join(outside, fmt.Sprint(i))); err != nil {
				t.Errorf("%s: %v", variant, err)
			}
		}
		t.Logf("%s: %d exchanges", variant, flips)
	}
}

func TestMounts(t *testing.T) {
	root, host := t.TempDir(), filepath.Join(t.TempDir(), "host")
	write(t, filepath.Join(host, "file"))
	at := filepath.Join(root, "tree", "a b")
	must(t, os.MkdirAll(at, 0o700))
	if err := unix.Mount(host, at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	defer func() { _ = unix.Unmount(at, unix.MNT_DETACH) }()
	for variant, ops := range variants() {
		d := open(t, ops, root)
		if got, err := d.MountBelow("tree"); err != nil || got != at {
			t.Errorf("%s: %q, %v", variant, got, err)
		}
		if got, err := d.MountBelow("tre"); err != nil || got != "" {
			t.Errorf("%s: a name that begins alike: %q, %v", variant, got, err)
		}
		if err := d.RemoveTree("tree"); !errors.Is(err, safepath.ErrMount) {
			t.Errorf("%s: %v", variant, err)
		}
		tree, err := d.Dir("tree", safepath.Read)
		must(t, err)
		if _, err := tree.DirHere("a b", safepath.Read); !errors.Is(err, safepath.ErrMount) {
			t.Errorf("%s: %v", variant, err)
		}
		_ = tree.Close()
		if _, err := os.Stat(filepath.Join(host, "file")); err != nil {
			t.Errorf("%s: %v", variant, err)
		}
	}
}
