package manager

import (
	"encoding/json/jsontext"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/manager/protocol"
)

func namesOf(m map[string]jsontext.Value) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), " ")
}

// The whole life of an allocation, one request after the other.
func TestLife(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.refused(p.request(protocol.Inspect, "a"), protocol.NotFound)
	p.refused(p.refreshRequest("a", "ws://h/", 0), protocol.NotFound)
	p.refused(p.request(protocol.Remove, "a"), protocol.NotFound)
	if entries, _ := os.ReadDir(p.root); len(entries) > 0 {
		t.Fatalf("refused requests made %v", entries)
	}

	got := p.must(p.prepareRequest("a"))
	if string(got["created"]) != "true" || string(got["revision"]) != "1" || string(got["status"]) != `"ready"` {
		t.Errorf("prepared: %v", got)
	}
	before := tree(t, p.root)
	if got = p.must(p.prepareRequest("a")); string(got["created"]) != "false" || string(got["revision"]) != "1" {
		t.Errorf("prepared again: %v", got)
	}
	if tree(t, p.root) != before {
		t.Error("an identical request changed something")
	}
	if got = p.must(p.refreshRequest("a", "ws://new/", 1)); string(got["revision"]) != "2" {
		t.Errorf("refreshed: %v", got)
	}
	p.refused(p.refreshRequest("a", "ws://newer/", 1), protocol.RevisionMismatch)
	p.refused(p.captureRequest("a", "life", 1), protocol.RevisionMismatch)
	capture := p.must(p.captureRequest("a", "life", 2))

	got = p.must(p.request(protocol.Inspect, "a"))
	want := "allocation_id backend config_path directory effective_configuration fork_origin lease overrides revision source_configuration startup status"
	if names := namesOf(got); names != want {
		t.Errorf("inspect has %s", names)
	}
	if string(got["effective_configuration"]) != string(capture["effective_configuration"]) {
		t.Error("the capture has another configuration")
	}
	if !strings.Contains(string(got["source_configuration"]), "# a comment that must survive") || string(got["lease"]) != `"idle"` {
		t.Errorf("inspected: %v", got)
	}

	p.must(p.request(protocol.Remove, "a"))
	if got = p.must(p.request(protocol.Remove, "a")); string(got["removed"]) != "false" || string(got["status"]) != `"retired"` {
		t.Errorf("removed again: %v", got)
	}
	if names := namesOf(p.must(p.request(protocol.Inspect, "a"))); names != "allocation_id directory fork_origin status" {
		t.Errorf("inspect of a retired one has %s", names)
	}
	for _, req := range []*protocol.Request{
		p.prepareRequest("a"), p.refreshRequest("a", "ws://h/", 2), p.captureRequest("a", "l", 2), p.request(protocol.ReadState, "a"),
		p.forkRequest("a", "p", "l", 1),
	} {
		if req.Operation == protocol.CleanFork {
			req.Source.Directory = p.directory("p")
		}
		p.refused(req, protocol.Retired)
	}
	if held := secretsBelow(t, p.root); len(held) > 0 {
		t.Errorf("the secret is still in %v", held)
	}
}

func TestForks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("parent"))
	p.refused(p.forkRequest("child", "parent", "life", 1), protocol.LifecycleConflict)
	p.must(p.captureRequest("parent", "life", 1))
	before := tree(t, p.root)
	p.refused(p.forkRequest("child", "parent", "other", 1), protocol.LifecycleConflict)
	p.refused(p.forkRequest("child", "parent", "life", 2), protocol.RevisionMismatch)
	p.refused(p.forkRequest("child", "nobody", "life", 1), protocol.NotFound)
	inside := p.forkRequest("child", "parent", "life", 1)
	inside.Directory = p.directory("parent/child")
	p.refused(inside, protocol.NestedAllocation)
	if tree(t, p.root) != before {
		t.Error("a refused fork left something behind")
	}

	fork := p.forkRequest("child", "parent", "life", 1)
	fork.Refresh = &protocol.Refresh{ClientEndpoint: new("ws://child/")}
	got := p.must(fork)
	if string(got["created"]) != "true" || !strings.Contains(string(got["fork_origin"]), `"lifecycle_id":"life"`) {
		t.Errorf("forked: %v", got)
	}
	p.must(p.refreshRequest("child", "ws://child/2", 1))
	p.must(p.request(protocol.Remove, "parent"))
	if got = p.must(fork); string(got["created"]) != "false" || string(got["revision"]) != "2" {
		t.Errorf("repeated when the parent is gone: %v", got)
	}
	other := p.forkRequest("child", "parent", "life", 1)
	other.Refresh = &protocol.Refresh{ClientEndpoint: new("ws://elsewhere/")}
	p.refused(other, protocol.Conflict)
	p.refused(p.forkRequest("child", "parent", "life2", 1), protocol.Conflict)
	p.refused(p.prepareRequest("child"), protocol.Conflict)
	p.refused(p.forkRequest("second", "parent", "life", 1), protocol.Retired)
	p.must(p.request(protocol.Remove, "child"))
	if got := p.must(p.request(protocol.Inspect, "child")); !strings.Contains(string(got["fork_origin"]), `"parent"`) {
		t.Errorf("the tombstone forgot its origin: %v", got)
	}
	p.refused(fork, protocol.Retired)
}

func TestNesting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	deep := p.prepareRequest("n")
	deep.Directory = p.directory("a/x/y/n")
	before := tree(t, p.root)
	p.refused(deep, protocol.NestedAllocation)
	for _, op := range []protocol.Operation{protocol.Inspect, protocol.Remove, protocol.ReadState} {
		req := p.request(op, "n")
		req.Directory = deep.Directory
		p.refused(req, protocol.NestedAllocation)
	}
	if tree(t, p.root) != before {
		t.Error("a refused request left something behind")
	}
	p.must(p.request(protocol.Remove, "a"))
	p.refused(deep, protocol.NestedAllocation) // the tombstone still claims the place

	outer := p.prepareRequest("b")
	inner := p.prepareRequest("c")
	inner.Directory = p.directory("b/c")
	p.must(inner)
	p.refused(outer, protocol.UnmanagedDirectory)
	p.refused(p.request(protocol.Inspect, "b"), protocol.NotFound)
}

func TestUnmanagedDirectoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.directory("full/file"), "x")
	p.write(p.directory("plain"), "x")
	if err := os.Mkdir(p.directory("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(p.directory("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, p.root)
	for _, id := range []string{"full", "plain", "empty", "fifo"} {
		p.refused(p.prepareRequest(id), protocol.UnmanagedDirectory)
		p.refused(p.request(protocol.Remove, id), protocol.NotFound)
	}
	if tree(t, p.root) != before {
		t.Error("something changed")
	}
	// Beside other allocations it is the same.
	p.must(p.prepareRequest("good"))
	p.refused(p.prepareRequest("empty"), protocol.UnmanagedDirectory)
	if _, err := os.Stat(filepath.Join(p.root, protocol.ManagerDirectory, "empty.lock")); err == nil {
		t.Error("the refused request left a lock file")
	}
}

// A root that is not the prepared one is not deleted; a moved or restored one is known by
// its nonce.
func TestForeignRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	if err := os.Rename(p.directory("a"), p.directory("kept")); err != nil {
		t.Fatal(err)
	}
	p.write(p.directory("a/precious"), "x")
	if f := p.refused(p.request(protocol.Remove, "a"), protocol.OwnershipMismatch); *f.Published {
		t.Error("something was published")
	}
	p.refused(p.request(protocol.ReadState, "a"), protocol.OwnershipMismatch)
	if _, err := os.Stat(p.directory("a/precious")); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(p.directory("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.directory("a"), os.DirFS(p.directory("kept"))); err != nil { // as from a backup
		t.Fatal(err)
	}
	p.must(p.request(protocol.Remove, "a"))
	p.write(p.directory("a/later"), "x")
	p.must(p.request(protocol.Remove, "a"))
	if _, err := os.Stat(p.directory("a/later")); err != nil {
		t.Errorf("a foreign directory at a retired path was removed: %v", err)
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.killedPrepare("a", stepPlace)
	for _, req := range []*protocol.Request{
		p.refreshRequest("a", "ws://h/", 1), p.captureRequest("a", "l", 1), p.request(protocol.ReadState, "a"), p.forkRequest("b", "a", "l", 1),
	} {
		p.refused(req, protocol.NotReady)
	}
	other := p.prepareRequest("a")
	other.Configuration = new("a: 1")
	p.refused(other, protocol.Conflict)
	if names := namesOf(p.must(p.request(protocol.Inspect, "a"))); names != "allocation_id directory fork_origin revision status" {
		t.Errorf("inspect has %s", names)
	}
	if got := p.must(p.prepareRequest("a")); string(got["created"]) != "true" {
		t.Errorf("%v", got)
	}
}

// Damage and records of a later program are told and never written over.
func TestDamagedRecordOnDisk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	path := filepath.Join(p.root, protocol.ManagerDirectory, "a.json")
	good := p.recordBytes("a")
	p.must(p.prepareRequest("b"))
	for name, c := range map[string]struct {
		text string
		code protocol.Code
	}{
		"edited":        {strings.Replace(good, "ready", "Ready", 1), protocol.CorruptRecord},
		"empty":         {"", protocol.CorruptRecord},
		"another's":     {p.recordBytes("b"), protocol.CorruptRecord},
		"a later one's": {`{"version":2}`, protocol.UnsupportedVersion},
	} {
		p.write(path, c.text)
		for _, req := range []*protocol.Request{
			p.request(protocol.Inspect, "a"), p.prepareRequest("a"), p.request(protocol.Remove, "a"), p.captureRequest("a", "l", 1),
			p.request(protocol.ReadState, "a"), p.forkRequest("c", "a", "l", 1),
		} {
			p.refused(req, c.code)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != c.text {
			t.Errorf("%s: the record was written over: %v", name, err)
		}
	}
}

// Modes do not depend on the umask.
func TestModes(t *testing.T) {
	p := newPlace(t) // not parallel: the umask is the process's
	for _, mask := range []int{0, 0o777} {
		old := unix.Umask(mask)
		p.root = filepath.Join(p.root, "below", "it")
		p.must(p.prepareRequest("a"))
		p.must(p.captureRequest("a", "life", 1))
		p.must(p.forkRequest("b", "a", "life", 1))
		unix.Umask(old)
		for line := range strings.Lines(tree(t, filepath.Dir(p.root))) {
			if !strings.HasPrefix(line, "drwx------ ") && !strings.HasPrefix(line, "-rw------- ") {
				t.Errorf("umask %o: %s", mask, line)
			}
		}
	}
}
