package editing_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/tools/editing"
)

// patience is for what comes at once on an idle machine.
const patience = 10 * time.Second

// Mode and owner survive the way through a temporary file (BR-020).
func TestModeIsKept(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	for _, mode := range []os.FileMode{0o755, 0o664, 0o600, 0o777, 0o400, 0o644} {
		path := file(t, "old\n")
		must(t, os.Chmod(path, mode))
		ok(t, r, path, "old", "new")
		holds(t, path, "new\n")
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v, %v", mode, info.Mode(), err)
		}
	}
}

func TestOwnerIsKept(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	r := newRegistry(t, nil)
	path := file(t, "old\n")
	must(t, os.Chown(path, 1234, 4321))
	must(t, os.Chmod(path, 0o755))
	ok(t, r, path, "old", "new")
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	if st.Uid != 1234 || st.Gid != 4321 || st.Mode&0o7777 != 0o755 {
		t.Errorf("%d:%d %o", st.Uid, st.Gid, st.Mode)
	}
}

// A write never goes through a link in the last place (BR-021).
func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	victim := file(t, "old\n")
	dir := t.TempDir()
	notes, draft := filepath.Join(dir, "notes.md"), filepath.Join(dir, "draft.md")
	must(t, os.Symlink(victim, notes))
	must(t, os.Symlink(filepath.Join(filepath.Dir(victim), "not-there-yet"), draft))
	for _, path := range []string{notes, draft} {
		contains(t, fails(t, r, path, "old", "new"), "is a symbolic link, which is not followed")
	}
	holds(t, victim, "old\n")
	if _, err := os.Lstat(filepath.Join(filepath.Dir(victim), "not-there-yet")); err == nil {
		t.Error("the target was made")
	}
	hard := filepath.Join(filepath.Dir(victim), "hard")
	must(t, os.Link(victim, hard))
	contains(t, fails(t, r, hard, "old", "new"), "further hard links")
	holds(t, victim, "old\n")
	// Links on the way are the operator's own layout.
	way := filepath.Join(dir, "way")
	path := file(t, "old\n")
	must(t, os.Symlink(filepath.Dir(path), way))
	ok(t, r, filepath.Join(way, "file"), "old", "new")
	holds(t, path, "new\n")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, unix.Mkfifo(at("fifo"), 0o600))
	l, err := net.Listen("unix", at("socket"))
	must(t, err)
	t.Cleanup(func() { l.Close() })
	must(t, os.WriteFile(at("suid"), []byte("old"), 0o644))
	must(t, unix.Chmod(at("suid"), 0o4755))
	must(t, os.WriteFile(at("sticky"), []byte("old"), 0o644))
	must(t, unix.Chmod(at("sticky"), 0o1644))
	must(t, os.WriteFile(at("huge"), nil, 0o644))
	must(t, os.Truncate(at("huge"), 3<<30))
	for path, want := range map[string]string{
		at("fifo"):       "is a FIFO",
		at("socket"):     "is a socket",
		"/dev/zero":      "is a device",
		dir:              "is a directory",
		dir + "/":        "does not end with a file name",
		dir + "/..":      "is a directory",
		at("suid"):       "set-uid",
		at("sticky"):     "set-uid, set-gid or sticky bit",
		at("huge"):       "has 3221225472 bytes, more than the limit of 16777216",
		at("none"):       "cannot be edited",
		at("none/below"): "cannot be edited",
		at("huge/below"): "cannot be edited",
	} {
		began := time.Now()
		if message := fails(t, r, path, "old", "new"); !strings.Contains(message, want) {
			t.Errorf("%s: %s", path, message)
		}
		if d := time.Since(began); d > patience {
			t.Errorf("%s took %v", path, d)
		}
	}
	contains(t, edit(t, r, at("none"), "a", "b").Output.Raw, "(no such file or directory; tool str_replace_edit; call c)")
	if _, err := os.Stat(at("none")); err == nil {
		t.Error("a directory was made")
	}
}

func TestSizeLimits(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	const limit = 16 << 20
	rest := strings.Repeat("1234567\n", limit/8-1)
	path := file(t, "X......\n"+rest)
	ok(t, r, path, "X", "Z")
	contains(t, fails(t, r, path, "Z", "ZZ"), "would have 16777217 bytes, more than the limit of 16777216")
	holds(t, path, "Z......\n"+rest)
	must(t, os.WriteFile(path, bytes.Repeat([]byte("y"), limit+1), 0o644))
	contains(t, fails(t, r, path, "y", "z"), "has 16777217 bytes")
}

// atPoint runs something at one point of an edit, once.
func atPoint(p editing.Point, do func() error) editing.Hook {
	return func(got editing.Point) error {
		if got != p {
			return nil
		}
		return do()
	}
}

// Whoever changes the file while it is edited wins: the edit is a conflict, and nothing
// of it is published.
func TestRaces(t *testing.T) {
	t.Parallel()
	changes := map[string]func(path string) error{
		"written": func(path string) error { return os.WriteFile(path, []byte("OLD\n"), 0o644) },
		"longer":  func(path string) error { return os.WriteFile(path, []byte("old\nmore\n"), 0o644) },
		"mode":    func(path string) error { return os.Chmod(path, 0o640) },
		"linked":  func(path string) error { return os.Link(path, path+".link") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("old\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"removed": os.Remove,
		"a link": func(path string) error {
			if err := os.Rename(path, path+".gone"); err != nil {
				return err
			}
			return os.Symlink(path+".gone", path)
		},
	}
	for name, change := range changes {
		for _, point := range []editing.Point{
			editing.PointRead, editing.PointWrite, editing.PointSync, editing.PointCompare, editing.PointRename,
		} {
			path := file(t, "old\n")
			var during []byte
			r := newRegistry(t, atPoint(point, func() error {
				err := change(path)
				during, _ = os.ReadFile(path)
				return err
			}))
			message := fails(t, r, path, "old", "new")
			if !strings.Contains(message, "(conflict)") {
				t.Errorf("%s at %s: %s", name, point, message)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, during) {
				t.Errorf("%s at %s: %q, was %q", name, point, now, during)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".simplex-edit-*")); len(left) > 0 {
				t.Errorf("%s at %s: %q is left", name, point, left)
			}
		}
	}
}

// A step that fails leaves the file and its directory as they were; after the rename
// the content is there, and the result says what is not sure.
func TestBrokenSteps(t *testing.T) {
	t.Parallel()
	for _, point := range []editing.Point{
		editing.PointRead, editing.PointWrite, editing.PointSync, editing.PointCompare, editing.PointRename,
	} {
		path := file(t, "old\n")
		r := newRegistry(t, atPoint(point, func() error { return unix.ENOSPC }))
		res := edit(t, r, path, "old", "new")
		contains(t, res.Output.Raw, "Failed to run the tool", "no space left on device")
		holds(t, path, "old\n")
	}
	path := file(t, "old\n")
	r := newRegistry(t, atPoint(editing.PointSyncDir, func() error { return unix.EIO }))
	got := ok(t, r, path, "old", "new")
	contains(t, got, "[[status]]: published_sync_failed\n", "[[persistence_error]]: input/output error\n[[hint]]: the new content is in the file", "- 0 | old", "+ 0 | new")
	holds(t, path, "new\n")
}

// Before the rename the old content is whole, and the temporary file stands beside it
// with the owner's eyes only until it has the mode of the file.
func TestTemporaryFile(t *testing.T) {
	t.Parallel()
	path := file(t, "old\n")
	var names []string
	r := newRegistry(t, atPoint(editing.PointRename, func() error {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
		names = found
		return err
	}))
	ok(t, r, path, "old", "new")
	if len(names) != 1 || len(filepath.Base(names[0])) != len(".simplex-edit-")+6 || !strings.HasPrefix(filepath.Base(names[0]), ".simplex-edit-") {
		t.Errorf("temporary files %q", names)
	}
	holds(t, path, "new\n")
}

// Edits of one file at once are made one after the other: none is lost.
func TestEditsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, nil)
	path := file(t, "a\nb\nc\nd\n")
	var all sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		all.Go(func() { edit(t, r, path, letter, strings.ToUpper(letter)) })
	}
	all.Wait()
	holds(t, path, "A\nB\nC\nD\n")
}
