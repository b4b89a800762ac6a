package manager

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// While a big tree is deleted its siblings are free.
func TestDeletionLeavesSiblingsFree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	asked := false
	m := New(Config{Hook: func(label string, op durable.Op) error {
		if label == "path.rmdir" && op.Name == configuration.Dir && !asked {
			asked = true
			p.must(p.prepareRequest("b"))
			p.refused(p.prepareRequest("a"), protocol.Busy)
		}
		return nil
	}})
	if _, failure := answerOf(m, p.request(protocol.Remove, "a")); failure != nil || !asked {
		t.Fatalf("%v, asked: %v", failure, asked)
	}
}

// A root in the lower layer of an overlay, as an image has it, cannot be renamed.
func TestRemoveInAnOverlay(t *testing.T) {
	t.Parallel()
	lower := newPlace(t)
	lower.must(lower.prepareRequest("a"))
	lower.write(lower.directory("a/"+strings.Repeat("deep/", 40)+"file"), secret)
	base := t.TempDir()
	for _, name := range []string{"upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	merged := filepath.Join(base, "merged")
	layers := fmt.Sprintf("redirect_dir=off,lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower.root, base, base)
	if err := unix.Mount("overlay", merged, "overlay", 0, layers); err != nil {
		t.Skipf("no overlays here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(merged, unix.MNT_DETACH) })
	// The record has to name the path at which the layers are joined.
	p := &place{TB: t, m: New(Config{}), root: lower.root}
	if err := unix.Mount(merged, lower.root, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("no mounts here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(lower.root, unix.MNT_DETACH) })
	p.must(p.request(protocol.Remove, "a"))
	if _, err := os.Stat(p.directory("a")); err == nil {
		t.Error("the root is still there")
	}
	if left := secretsBelow(t, p.root); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	p.refused(p.prepareRequest("a"), protocol.Retired)
}

// With too few descriptors for a deep tree a removal does not begin.
func TestFewDescriptorsForRemoval(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	p.write(p.directory("a/"+strings.Repeat("deep/", 45)+"file"), "x")
	before := p.recordBytes("a")
	for limit := 26; ; limit += 4 {
		child := childCommand(t, p.request(protocol.Remove, "a"), 0)
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0"`, limit), "/proc/self/exe")
		if self, err := os.Executable(); err == nil {
			cmd.Args[len(cmd.Args)-1] = self
		}
		cmd.Env, cmd.Stderr = child.Env, io.Discard
		out, err := cmd.Output()
		if err == nil {
			return
		}
		if p.recordBytes("a") != before {
			t.Fatalf("with %d descriptors it began and failed: %s", limit, out)
		}
		if limit > 200 {
			t.Fatalf("%d are not enough: %s", limit, out)
		}
	}
}

// A removal in place that is cut short leaves what tells whose the rest is.
func TestRemovalInPlaceIsTakenUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	for i := range 20 {
		p.write(p.directory(fmt.Sprintf("a/file-%d", i)), secret)
	}
	left := 12
	hook := func(label string, op durable.Op) error {
		switch {
		case label == "path.rename" && op.Name == "a"+trashSuffix:
			return unix.EXDEV
		case label == "path.unlink" && strings.HasPrefix(op.Name, "file-"):
			if left--; left < 0 {
				return unix.EIO
			}
		}
		return nil
	}
	// In an overlay the root has another inode after its first change.
	forget := func() {
		rec := p.record("a")
		rec.Root = nil
		raw, err := record.Encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		p.write(filepath.Join(p.root, protocol.ManagerDirectory, "a.json"), string(raw))
	}
	p.m = New(Config{Hook: hook})
	p.refused(p.request(protocol.Remove, "a"), protocol.IOError)
	forget()
	left = 1000
	p.must(p.request(protocol.Remove, "a"))
	if _, err := os.Stat(p.directory("a")); err == nil {
		t.Error("the root is still there")
	}
	if left := secretsBelow(t, p.root); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A removal that is refused leaves the modes alone, and those of files elsewhere always.
func TestRefusedRemovalLeavesModes(t *testing.T) {
	t.Parallel()
	p, as := placeOfNobody(t)
	for _, id := range []string{"held", "linked"} {
		if out := as(p.prepareRequest(id)); !strings.Contains(out, `"ok":true`) {
			t.Fatal(out)
		}
		lock := filepath.Join(p.directory(id), configuration.SessionLock)
		p.write(lock, "")
		for path, mode := range map[string]os.FileMode{lock: 0o400, p.directory(id): 0o500} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	held, err := os.Open(filepath.Join(p.directory("held"), configuration.SessionLock))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(filepath.Dir(p.root), "elsewhere")
	if err := os.Link(filepath.Join(p.directory("linked"), configuration.SessionLock), elsewhere); err != nil {
		t.Fatal(err)
	}
	for id, code := range map[string]string{"held": `"busy"`, "linked": `"permission_denied"`} {
		if out := as(p.request(protocol.Remove, id)); !strings.Contains(out, code) || !strings.Contains(out, `"published":false`) {
			t.Errorf("%s: %s", id, out)
		}
		for path, mode := range map[string]os.FileMode{filepath.Join(p.directory(id), configuration.SessionLock): 0o400, p.directory(id): 0o500} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
