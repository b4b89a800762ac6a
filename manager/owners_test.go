package manager

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/manager/protocol"
)

// nobody is a user who owns nothing here.
const nobody = 65534

// Twenty thousand files are a matter of time only, and of little.
func TestRemoveTwentyThousandFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	wide := filepath.Join(p.directory("a"), "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		if err := unix.Mknod(filepath.Join(wide, fmt.Sprint(i)), unix.S_IFREG|0o600, 0); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	p.must(p.request(protocol.Remove, "a"))
	t.Logf("removed in %v", time.Since(start))
	if _, err := os.Lstat(p.directory("a")); err == nil || len(p.leftovers()) > 0 {
		t.Errorf("left over: %v, %v", err, p.leftovers())
	}
}

// What another user made in the root is the root's, to a manager that may delete it.
func TestRemoveAnotherUsersFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs to give files away")
	}
	for name, m := range managers() {
		p := newPlace(t)
		p.m = m
		p.must(p.prepareRequest("a"))
		d := p.directory("a")
		p.write(filepath.Join(d, "theirs/closed/file"), secret)
		p.write(filepath.Join(d, "theirs/read-only/file"), secret)
		chownBelow(t, filepath.Join(d, "theirs"), nobody)
		for path, mode := range map[string]fs.FileMode{"theirs/closed": 0, "theirs/read-only": 0o500, "theirs/read-only/file": 0o400} {
			if err := os.Chmod(filepath.Join(d, path), mode); err != nil {
				t.Fatal(err)
			}
		}
		p.must(p.request(protocol.Remove, "a"))
		if left := secretsBelow(t, p.root); len(left) > 0 || len(p.leftovers()) > 0 {
			t.Errorf("%s: left over: %v, %v", name, left, p.leftovers())
		}
	}
}

// A manager that may not delete what root made in its allocation says so, keeps the
// tombstone, and finishes once it may.
func TestRemoveWhatIsNotAllowed(t *testing.T) {
	t.Parallel()
	p, asNobody := placeOfNobody(t)
	if out := asNobody(p.prepareRequest("a")); !strings.Contains(out, `"ok":true`) {
		t.Fatal(out)
	}
	p.write(filepath.Join(p.directory("a"), "roots/file"), secret) // root's, mode 0700
	for range 2 {
		out := asNobody(p.request(protocol.Remove, "a"))
		if !strings.Contains(out, `"permission_denied"`) || !strings.Contains(out, "roots") || strings.Contains(out, secret) {
			t.Errorf("%s", out)
		}
	}
	if raw := p.recordBytes("a"); !strings.Contains(raw, `"removing"`) || strings.Contains(raw, secret) {
		t.Errorf("the record is %s", raw)
	}
	chownBelow(t, filepath.Join(p.root, protocol.ManagerDirectory, "a"+trashSuffix, "roots"), nobody)
	if out := asNobody(p.request(protocol.Remove, "a")); !strings.Contains(out, `"removed":true`) {
		t.Errorf("%s", out)
	}
	if left := secretsBelow(t, p.root); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func chownBelow(tb testing.TB, dir string, uid int) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, uid, uid)
	})
	if err != nil {
		tb.Fatal(err)
	}
}
