package durable_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

func TestPublishMakesParentsAndReplaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	mustPublish(t, path, oldContent)
	mustPublish(t, path, newContent)
	if got := wholeContent(t, path); got != "new" {
		t.Fatalf("content is %s", got)
	}
	for name, want := range map[string]fs.FileMode{
		path:                             0o600,
		filepath.Dir(path):               0o700 | fs.ModeDir,
		filepath.Dir(filepath.Dir(path)): 0o700 | fs.ModeDir,
	} {
		if st, err := os.Stat(name); err != nil || st.Mode() != want {
			t.Errorf("%s: mode %v, %v; want %v", name, st.Mode(), err, want)
		}
	}
}

// Not parallel: the umask belongs to the process.
func TestModeIsPrivateWhateverTheUmask(t *testing.T) {
	root := t.TempDir()
	for _, umask := range []int{0, 0o022, 0o777} {
		path := filepath.Join(root, "file")
		old := unix.Umask(umask)
		err := durable.Publish(path, writer(newContent))
		unix.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
			t.Errorf("umask %03o: mode %v, %v", umask, st.Mode(), err)
		}
	}
}

func TestPublishReplacesALinkAndKeepsItsTarget(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	target, link := filepath.Join(root, "target"), filepath.Join(root, "link")
	mustPublish(t, target, oldContent)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, link, newContent)
	if st, err := os.Lstat(link); err != nil || !st.Mode().IsRegular() {
		t.Fatalf("the link is %v, %v", st.Mode(), err)
	}
	if wholeContent(t, target) != "old" || wholeContent(t, link) != "new" {
		t.Fatal("the link was followed")
	}
}

func TestPublishRefusesBeforeTouchingAnything(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "new", "file")
	if err := durable.Publish(path, nil); !errors.Is(err, durable.ErrNoWriter) {
		t.Errorf("nil callback: %v", err)
	}
	for _, bad := range []string{"", filepath.Join(root, "new") + "/", root + "/new/..", root + "/new/a\x00b"} {
		if err := durable.Publish(bad, writer(newContent)); !errors.Is(err, durable.ErrBadName) {
			t.Errorf("path %q: %v", bad, err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestFailingCallbackKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "file")
	mustPublish(t, path, oldContent)
	cause := errors.New("no such state")
	err := durable.Publish(path, func(w io.Writer) error {
		_, _ = w.Write(newContent)
		return cause
	})
	if pe, ok := errors.AsType[*durable.PublishError](err); !ok || pe.Published || pe.Path != path || !errors.Is(err, cause) {
		t.Fatalf("error is %v", err)
	}
	if wholeContent(t, path) != "old" || len(temps(t, root)) != 0 {
		t.Fatal("the old content or no temporary file should be there")
	}
}

func TestPanickingCallbackLeavesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "file")
	mustPublish(t, path, oldContent)
	func() {
		defer func() { _ = recover() }()
		_ = durable.Publish(path, func(w io.Writer) error { panic("encoder") })
	}()
	if wholeContent(t, path) != "old" || len(temps(t, root)) != 0 {
		t.Fatal("the old content or no temporary file should be there")
	}
}

func TestDirectoryAtTheDestinationIsAnError(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "file")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	err := durable.Publish(path, writer(newContent))
	if pe, ok := errors.AsType[*durable.PublishError](err); !ok || pe.Published || pe.Step != durable.LabelRename {
		t.Fatalf("error is %v", err)
	}
	if len(temps(t, root)) != 0 {
		t.Fatal("temporary file left")
	}
}

// Not parallel: it counts the process's descriptors.
func TestPublisherIsUsedAgain(t *testing.T) {
	root := t.TempDir()
	dir := mustOpen(t, root)
	before := openDescriptors(t)
	p, err := durable.NewPublisher(dir, "file")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{oldContent, nil, newContent, []byte("x")} {
		if err := p.Publish(writer(content)); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, p.Path()); !bytes.Equal(got, content) {
			t.Fatalf("%d bytes instead of %d", len(got), len(content))
		}
	}
	p.Close()
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// A file that was replaced is let go of by the publication after it at the latest, so
// that a full disk never holds more than one of them.
func TestReplacedFilesAreFreed(t *testing.T) {
	root := t.TempDir()
	dir := mustOpen(t, root)
	p, err := durable.NewPublisher(dir, "file")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 10 {
		if err := p.Publish(writer(newContent)); err != nil {
			t.Fatal(err)
		}
		if n := len(deletedFiles(t, root)); n > 1 {
			t.Fatalf("publication %d: %d replaced files are still open", i, n)
		}
	}
}

// deletedFiles lists the removed files below root that this process has open.
func deletedFiles(t *testing.T, root string) []string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, fd := range fds {
		target, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && strings.HasPrefix(target, root) && strings.HasSuffix(target, " (deleted)") {
			found = append(found, target)
		}
	}
	return found
}

func TestStaleFilesOfAKilledWriterAreRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	stale := filepath.Join(root, durable.TempPrefix+"aB3dE6")
	kept := []string{"state.json", durable.TempPrefix, durable.TempPrefix + "toolong", durable.TempPrefix + "a.bcde", "x" + durable.TempPrefix + "aB3dE6"}
	for _, name := range append(kept, filepath.Base(stale)) {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link, folder := durable.TempPrefix+"llllll", durable.TempPrefix+"dddddd"
	if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(root, link)), os.Mkdir(filepath.Join(root, folder), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, root).RemoveStale(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stale file is still there: %v", err)
	}
	for _, name := range append(kept, link, folder) {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

func TestSubRefusesLinksAndEscapes(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	dir := mustOpen(t, root)
	for _, rel := range []string{"", ".", "..", "a/../..", "/abs", "link", "link/state"} {
		if sub, err := dir.Sub(rel); err == nil {
			_ = sub.Close()
			t.Errorf("%q was opened", rel)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("made outside: %v", entries)
	}
	sub, err := dir.Sub("a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if want := filepath.Join(root, "a", "b"); sub.Path() != want {
		t.Errorf("path %s, want %s", sub.Path(), want)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustPublish(t, filepath.Join(root, "file"), newContent)
	err := errors.Join(
		os.Symlink("file", filepath.Join(root, "link")),
		os.Mkdir(filepath.Join(root, "folder"), 0o700),
		unix.Mkfifo(filepath.Join(root, "fifo"), 0o600),
		os.WriteFile(filepath.Join(root, "empty"), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	dir := mustOpen(t, root)
	for _, tc := range []struct {
		name string
		want []byte
		err  error
	}{
		{"file", newContent, nil},
		{"empty", nil, nil},
		{"missing", nil, fs.ErrNotExist},
		{"link", nil, durable.ErrNotRegular},
		{"folder", nil, durable.ErrNotRegular},
		{"fifo", nil, durable.ErrNotRegular},
		{"../file", nil, durable.ErrBadName},
	} {
		got, err := dir.ReadFile(tc.name)
		if !errors.Is(err, tc.err) || !bytes.Equal(got, tc.want) {
			t.Errorf("%s: %d bytes, %v", tc.name, len(got), err)
		}
	}
}
