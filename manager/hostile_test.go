package manager

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
)

func failAt(label string) durable.Hook {
	return func(now string, _ durable.Op) error {
		if now == label {
			return unix.EIO
		}
		return nil
	}
}

// A repeat that moves a root and then fails has published something.
func TestMovedRootsArePublished(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.m = New(Config{Hook: failAt(stepStage)})
	p.refused(p.prepareRequest("a"), protocol.IOError)
	p.m = New(Config{Hook: failAt(stepReady)})
	if f := p.refused(p.prepareRequest("a"), protocol.IOError); !*f.Published {
		t.Error("prepare put the root into place and says that nothing was published")
	}
	p.m = New(Config{})
	p.must(p.prepareRequest("a"))
	p.m = New(Config{Hook: failAt(stepTrash)})
	p.refused(p.request(protocol.Remove, "a"), protocol.IOError)
	p.m = New(Config{Hook: failAt(stepDelete)})
	if f := p.refused(p.request(protocol.Remove, "a"), protocol.IOError); !*f.Published {
		t.Error("remove took the root away and says that nothing was published")
	}
	p.m = New(Config{})
	p.must(p.request(protocol.Remove, "a"))
}

// place where another user's manager works.
func placeOfNobody(t *testing.T) (p *place, as func(*protocol.Request) string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs to become another user")
	}
	base, err := os.MkdirTemp("/tmp", "manager")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p = newPlace(t)
	p.root = filepath.Join(base, "allocations")
	if err := os.Mkdir(p.root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(p.root, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	self := copyOfSelf(t, base)
	return p, func(req *protocol.Request) string {
		cmd := childCommand(t, req, 0)
		cmd.Path = self
		cmd.SysProcAttr = &sysProcAttr{Credential: &credential{Uid: nobody, Gid: nobody}}
		out, _ := cmd.Output()
		return string(out)
	}
}

// What an agent does to the modes of its own files does not make them immortal.
func TestRemoveRegainsModes(t *testing.T) {
	t.Parallel()
	p, as := placeOfNobody(t)
	for id, mode := range map[string]os.FileMode{"readable": 0o555, "closed": 0} {
		if out := as(p.prepareRequest(id)); !strings.Contains(out, `"ok":true`) {
			t.Fatal(out)
		}
		lock := filepath.Join(p.directory(id), configuration.SessionLock)
		p.write(lock, "")
		if err := os.Chown(lock, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		for path, mode := range map[string]os.FileMode{lock: 0, p.directory(id): mode} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if out := as(p.request(protocol.Remove, id)); !strings.Contains(out, `"removed":true`) {
			t.Errorf("%s: %s", id, out)
		}
	}
}

// In a directory of several users nobody can claim another's paths; root respects all.
func TestClaimsOfOthers(t *testing.T) {
	t.Parallel()
	p, as := placeOfNobody(t)
	base := filepath.Dir(p.root)
	claim := filepath.Join(base, protocol.ManagerDirectory)
	p.write(filepath.Join(claim, "allocations.json"), "")
	for _, path := range []string{claim, filepath.Join(claim, "allocations.json")} {
		if err := os.Chown(path, nobody+1, nobody+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(claim, 0o755); err != nil {
		t.Fatal(err)
	}
	if out := as(p.prepareRequest("a")); !strings.Contains(out, `"ok":true`) {
		t.Errorf("a stranger's claim counts: %s", out)
	}
	p.refused(p.request(protocol.Remove, "a"), protocol.NestedAllocation)
	if err := os.RemoveAll(claim); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", claim); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(claim, nobody+1, nobody+1); err != nil {
		t.Fatal(err)
	}
	if out := as(p.prepareRequest("b")); !strings.Contains(out, `"ok":true`) {
		t.Errorf("a stranger's link counts: %s", out)
	}
	p.refused(p.request(protocol.Remove, "a"), protocol.UnsafePath)
}

// The configuration that a killed request left goes, also where the next is refused.
func TestRefusalsTidyUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("parent"))
	p.must(p.captureRequest("parent", "life", 1))
	p.write(p.directory("a/precious"), "x") // unmanaged
	for name, refuse := range map[string]func(){
		"prepare":    func() { p.refused(p.prepareRequest("a"), protocol.UnmanagedDirectory) },
		"remove":     func() { p.refused(p.request(protocol.Remove, "b"), protocol.NotFound) },
		"refresh":    func() { p.refused(p.refreshRequest("c", "ws://h/", 0), protocol.NotFound) },
		"clean_fork": func() { p.refused(p.forkRequest("d", "parent", "other", 1), protocol.LifecycleConflict) },
	} {
		for _, id := range []string{"a", "b", "c", "d"} {
			p.write(filepath.Join(p.root, protocol.ManagerDirectory, id+tempSuffix), secret)
			p.write(filepath.Join(p.root, protocol.ManagerDirectory, id+stageSuffix, "config/config.yaml"), secret)
		}
		refuse()
		left := strings.Join(p.leftovers(), " ")
		own := map[string]string{"prepare": "a.", "remove": "b.", "refresh": "c.", "clean_fork": "d."}[name]
		if strings.Contains(left, own) {
			t.Errorf("%s: left over: %s", name, left)
		}
	}
}

// A ready allocation without its directory is not told to be well.
func TestLostRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("parent"))
	p.must(p.captureRequest("parent", "life", 1))
	p.must(p.forkRequest("a", "parent", "life", 1))
	p.must(p.captureRequest("a", "life", 1))
	requests := map[string]*protocol.Request{
		"refresh": p.refreshRequest("a", "ws://h/", 1), "capture": p.captureRequest("a", "life", 1),
		"fork": p.forkRequest("a", "parent", "life", 1), "read_state": p.request(protocol.ReadState, "a"),
	}
	// What changes nothing is answered from the record, as a Hub repeats it to learn of a
	// lost reply.
	harmless := map[string]bool{"fork": true, "read_state": true}
	away := p.directory("away")
	if err := os.Rename(p.directory("a"), away); err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []bool{false, true} {
		if foreign {
			p.write(p.directory("a/foreign"), "x")
		}
		before := p.recordBytes("a")
		for name, req := range requests {
			if harmless[name] && !foreign {
				p.must(req)
				continue
			}
			p.refused(req, protocol.OwnershipMismatch)
		}
		if p.recordBytes("a") != before {
			t.Error("the record changed")
		}
		p.must(p.request(protocol.Inspect, "a"))
	}
	if err := os.RemoveAll(p.directory("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, p.directory("a")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fork", "read_state", "capture", "refresh"} {
		if _, failure := answerOf(p.m, requests[name]); failure != nil {
			t.Errorf("%s: %v", name, failure)
		}
	}
}

// What is said of a fork's parent cannot be taken for the child's state.
func TestForkOfAGoneParent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("parent"))
	p.must(p.request(protocol.Remove, "parent"))
	for parent, code := range map[string]protocol.Code{"parent": protocol.Retired, "never": protocol.NotFound} {
		if f := p.refused(p.forkRequest("child", parent, "life", 1), code); !strings.HasPrefix(f.Message, "source: ") {
			t.Errorf("%s: %s", parent, f.Message)
		}
	}
}

// A file of any size where a record should be costs no memory.
func TestHugeRecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	if err := os.Truncate(filepath.Join(p.root, protocol.ManagerDirectory, "a.json"), 1<<40); err != nil {
		t.Skip(err) // not every file system holds such a file
	}
	p.refused(p.request(protocol.Inspect, "a"), protocol.CorruptRecord)
}

// A state that its owner changes between the check and the answer spoils the answer,
// whatever the file's times say.
func TestStateChangedInPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	path := p.directory("a/state/state.json")
	p.write(path, `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	result, failure := p.m.Handle(t.Context(), p.request(protocol.ReadState, "a"))
	if failure != nil {
		t.Fatal(failure)
	}
	defer result.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(`","forged":1}`), info.Size()-13); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := protocol.WriteResult(&out, "r", result.Write); err == nil {
		t.Error("the answer succeeds")
	}
	if _, err := protocol.DecodeResponse(out.Bytes(), "r"); err == nil {
		t.Error("a forged answer can be read")
	}
}
