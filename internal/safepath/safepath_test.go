package safepath_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
)

// variants are the ways in which components are opened.
func variants() map[string]safepath.Ops {
	return map[string]safepath.Ops{"openat2": {}, "plain": {WithoutOpenat2: true}}
}

// open walks to an existing directory.
func open(tb testing.TB, ops safepath.Ops, path string) *safepath.Dir {
	tb.Helper()
	dir, err := ops.Root(safepath.Read)
	if err != nil {
		tb.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		next, err := dir.Dir(name, safepath.Read)
		_ = dir.Close()
		if err != nil {
			tb.Fatal(err)
		}
		dir = next
	}
	tb.Cleanup(func() { _ = dir.Close() })
	return dir
}

func must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

func write(tb testing.TB, path string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600))
}

func TestWhatANameIs(t *testing.T) {
	t.Parallel()
	for variant, ops := range variants() {
		root := t.TempDir()
		at := func(name string) string { return filepath.Join(root, name) }
		write(t, at("dir/file"))
		must(t, os.Symlink("dir", at("link")), os.Symlink("nowhere", at("dangling")), unix.Mkfifo(at("fifo"), 0o600),
			unix.Mknod(at("socket"), unix.S_IFSOCK|0o600, 0))
		d := open(t, ops, root)
		for name, want := range map[string]error{
			"dir": nil, "dir/file": safepath.ErrName, "link": safepath.ErrLink, "dangling": safepath.ErrLink, "fifo": safepath.ErrNotDir,
			"missing": fs.ErrNotExist, "..": safepath.ErrName, ".": safepath.ErrName, "": safepath.ErrName, "a\x00b": safepath.ErrName,
		} {
			for _, access := range []safepath.Access{safepath.Search, safepath.Read} {
				got, err := d.Dir(name, access)
				_ = got.Close()
				if !errors.Is(err, want) {
					t.Errorf("%s: directory %q: %v, want %v", variant, name, err, want)
				}
			}
		}
		for name, want := range map[string]error{
			"dir": durable.ErrNotRegular, "link": safepath.ErrLink, "dangling": safepath.ErrLink, "fifo": durable.ErrNotRegular,
			"socket": durable.ErrNotRegular, "missing": fs.ErrNotExist, "../x": safepath.ErrName,
		} {
			f, err := d.Open(name)
			_ = f.Close()
			if !errors.Is(err, want) {
				t.Errorf("%s: file %q: %v, want %v", variant, name, err, want)
			}
			var e *safepath.Error
			if !errors.As(err, &e) || e.Path != at(name) {
				t.Errorf("%s: %q: the error is about %v", variant, name, err)
			}
			if want == fs.ErrNotExist {
				continue
			}
			f, err = d.MakeLock(name)
			_ = f.Close()
			if err == nil {
				t.Errorf("%s: lock file %q was opened", variant, name)
			}
		}
		if _, err := os.Lstat(at("nowhere")); err == nil {
			t.Error("a dangling link's target was made")
		}
		if in, err := d.Descend("dir/./", safepath.Search); err != nil {
			t.Error(err)
		} else {
			_ = in.Close()
		}
		if _, err := d.Descend("link/file", safepath.Search); !errors.Is(err, safepath.ErrLink) {
			t.Errorf("descending through a link: %v", err)
		}
	}
}

// Modes are what the package says whatever the umask and the parent's bits are.
func TestModesWhateverTheUmask(t *testing.T) {
	root := t.TempDir() // not parallel: the umask is the process's
	must(t, os.Chmod(root, 0o700|os.ModeSetgid))
	d := open(t, safepath.Ops{}, root)
	for _, mask := range []int{0, 0o777} {
		name := map[int]string{0: "open", 0o777: "closed"}[mask]
		old := unix.Umask(mask)
		err := d.MakeDir(name)
		f, ferr := d.Create(name + ".file")
		l, lerr := d.MakeLock(name + ".lock")
		unix.Umask(old)
		must(t, err, ferr, lerr, f.Close(), l.Close())
		for n, want := range map[string]uint32{name: 0o700, name + ".file": 0o600, name + ".lock": 0o600} {
			if info, err := d.Look(n); err != nil || info.Mode&0o7777 != want {
				t.Errorf("umask %o: %s has mode %o: %v", mask, n, info.Mode, err)
			}
		}
	}
	if err := d.MakeDir("open"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if _, err := d.Create("open.file"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
}

func TestLocks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	a, b := open(t, safepath.Ops{}, root), open(t, safepath.Ops{}, root)
	must(t, a.Lock(safepath.Shared), b.Lock(safepath.Shared))
	if err := a.Lock(safepath.Exclusive); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("exclusive beside shared: %v", err)
	}
	must(t, b.Close())
	must(t, a.Lock(safepath.Exclusive))

	one, err := a.LockFile("x.lock", safepath.Shared, true)
	must(t, err)
	two, err := a.LockFile("x.lock", safepath.Shared, false)
	must(t, err, two.MarkPresence())
	if _, err := a.LockFile("x.lock", safepath.Exclusive, false); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("exclusive beside two shared: %v", err)
	}
	if there, err := one.Present(); err != nil || !there {
		t.Errorf("presence: %v, %v", there, err)
	}
	must(t, two.Close())
	if there, err := one.Present(); err != nil || there {
		t.Errorf("presence after its end: %v, %v", there, err)
	}
	must(t, one.Close(), one.Close())
	if _, err := a.LockFile("y.lock", safepath.Shared, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing lock file: %v", err)
	}
	must(t, os.Link(filepath.Join(root, "x.lock"), filepath.Join(root, "z.lock")))
	if _, err := a.LockFile("x.lock", safepath.Exclusive, false); !errors.Is(err, durable.ErrNotRegular) {
		t.Errorf("a lock file with two names: %v", err)
	}
}

// A lock on a file that was replaced meanwhile would exclude nobody; the new one is taken.
func TestReplacedLockFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "x.lock")
	write(t, path)
	replaced := 0
	ops := safepath.Ops{Hook: func(label string, _ durable.Op) error {
		if label == safepath.LabelLock && replaced == 0 {
			replaced++
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		}
		return nil
	}}
	d := open(t, ops, root)
	f, err := d.LockFile("x.lock", safepath.Exclusive, false)
	must(t, err)
	defer f.Close()
	now, err := d.Look("x.lock")
	if err != nil || !now.Same(f.Info()) || replaced != 1 {
		t.Errorf("locked another file: %v", err)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, safepath.Ops{}, root)
	must(t, d.MakeDir("a"), d.MakeDir("empty"))
	if err := d.Rename("a", d, "empty", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto an empty directory: %v", err)
	}
	must(t, os.Symlink("nowhere", filepath.Join(root, "link")))
	if err := d.Rename("a", d, "link", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a dangling link: %v", err)
	}
	must(t, d.Rename("a", d, "b", false))
	child, err := d.Dir("b", safepath.Search)
	must(t, err, d.Moved(child))
	must(t, d.Rename("b", d, "c", false))
	if err := d.Moved(child); !errors.Is(err, safepath.ErrMoved) {
		t.Errorf("moved away: %v", err)
	}
	must(t, d.MakeDir("b"))
	if err := d.Moved(child); !errors.Is(err, safepath.ErrMoved) {
		t.Errorf("replaced: %v", err)
	}
	_ = child.Close()
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for variant, ops := range variants() {
		root := t.TempDir()
		write(t, filepath.Join(root, "in/there"))
		write(t, filepath.Join(root, "file"))
		must(t, os.Symlink("in", filepath.Join(root, "link")), os.Symlink("nowhere", filepath.Join(root, "in/dangling")))
		d := open(t, ops, root)
		for _, c := range []struct {
			inner, name string
			want        bool
			err         error
		}{
			{"in", "there", true, nil},
			{"in", "missing", false, nil},
			{"in", "dangling", true, nil},
			{"missing", "x", false, nil},
			{"link", "there", false, safepath.ErrLink},
			{"file", "x", false, safepath.ErrNotDir},
			{"..", "x", false, safepath.ErrName},
		} {
			if got, err := d.Holds(c.inner, c.name); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%s: %s/%s: %v, %v", variant, c.inner, c.name, got, err)
			}
		}
	}
}

// Every labelled call of opening, writing and deleting can fail, and the failure comes
// out with its cause.
func TestFaultsComeOut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for n := 1; ; n++ {
		seen, struck := 0, ""
		ops := safepath.Ops{Hook: func(label string, _ durable.Op) error {
			if seen++; seen == n {
				struck = label
				return unix.EIO
			}
			return nil
		}}
		err := work(ops, root)
		if struck == "" {
			must(t, err)
			t.Logf("%d calls", n-1)
			return
		}
		if !errors.Is(err, unix.EIO) {
			t.Errorf("call %d (%s): %v", n, struck, err)
		}
		must(t, os.RemoveAll(filepath.Join(root, "w")), os.RemoveAll(filepath.Join(root, "v")))
	}
}

func work(ops safepath.Ops, root string) error {
	d, err := ops.Root(safepath.Read)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.Trim(root, "/"), "/") {
		next, err := d.Dir(name, safepath.Read)
		_ = d.Close()
		if err != nil {
			return err
		}
		d = next
	}
	defer d.Close()
	if err := d.Lock(safepath.Exclusive); err != nil {
		return err
	}
	if err := d.MakeDir("w"); err != nil {
		return err
	}
	w, err := d.Dir("w", safepath.Read)
	if err != nil {
		return err
	}
	defer w.Close()
	f, err := w.Create("f")
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("text"))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := w.Sync(); err != nil {
		return err
	}
	if err := d.Rename("w", d, "v", false); err != nil {
		return err
	}
	return d.RemoveTree("v")
}
