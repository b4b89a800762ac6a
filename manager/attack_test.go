package manager

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// managers are one that uses openat2 and one that does without.
func managers() map[string]*Manager {
	return map[string]*Manager{"openat2": New(Config{}), "plain": New(Config{WithoutOpenat2: true})}
}

// outside is a tree that nothing may touch, with more directories if wanted.
func outside(p *place, dirs ...string) (dir string, check func()) {
	dir = filepath.Join(p.TempDir(), "outside")
	p.write(filepath.Join(dir, "victim"), "untouched "+secret)
	p.write(filepath.Join(dir, "config/config.yaml"), "untouched")
	for _, name := range dirs {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			p.Fatal(err)
		}
	}
	before := tree(p, dir)
	return dir, func() {
		p.Helper()
		if now := tree(p, dir); now != before {
			p.Errorf("outside changed:\n%s\nwas\n%s", now, before)
		}
	}
}

func (p *place) replaceByLink(path, target string) {
	p.Helper()
	_ = os.RemoveAll(path)
	if err := os.Symlink(target, path); err != nil {
		p.Fatal(err)
	}
}

// A link at every place where the manager looks, in an allocation that was sound before.
func TestLinksEverywhere(t *testing.T) {
	t.Parallel()
	manager := protocol.ManagerDirectory
	all := []protocol.Operation{protocol.Prepare, protocol.Inspect, protocol.CaptureStartup, protocol.ReadState, protocol.Remove}
	for _, c := range []struct {
		name   string
		link   string // below the root's parent
		target string // below outside; "" for a dangling link
		want   map[protocol.Operation]protocol.Code
	}{
		{"an ancestor", "up", "", codesFor(all, protocol.UnsafePath)},
		{"the parent", "up/allocations", "", codesFor(all, protocol.UnsafePath)},
		{"the root", "up/allocations/a", ".", codesFor(all, protocol.UnsafePath)},
		{"the root, dangling", "up/allocations/a", "nowhere", codesFor(all, protocol.UnsafePath)},
		{"the manager directory", "up/allocations/" + manager, ".", codesFor(all, protocol.UnsafePath)},
		{"the lock", "up/allocations/" + manager + "/a.lock", "victim", codesFor(all, protocol.UnsafePath)},
		{"the lock, dangling", "up/allocations/" + manager + "/a.lock", "nowhere", codesFor(all, protocol.UnsafePath)},
		{"the record", "up/allocations/" + manager + "/a.json", "victim", codesFor(all, protocol.UnsafePath)},
		{"the temporary record", "up/allocations/" + manager + "/a.json.tmp", "victim", nil},
		{"the stage", "up/allocations/" + manager + "/a.stage", ".", nil},
		{"the trash", "up/allocations/" + manager + "/a.trash", ".", nil},
		{"config", "up/allocations/a/config", "config", nil},
		{"the reference", "up/allocations/a/config/config.yaml", "victim", nil},
		{"session.lock", "up/allocations/a/session.lock", "victim", map[protocol.Operation]protocol.Code{protocol.Remove: protocol.UnsafePath}},
		{"the state directory", "up/allocations/a/state", ".", map[protocol.Operation]protocol.Code{protocol.ReadState: protocol.UnsafePath}},
		{"the state", "up/allocations/a/state/state.json", "victim", map[protocol.Operation]protocol.Code{protocol.ReadState: protocol.UnsafePath}},
		{"the export", "up/allocations/a/state/readable.md", "victim", map[protocol.Operation]protocol.Code{protocol.ReadState: protocol.UnsafePath}},
	} {
		for variant, m := range managers() {
			for _, op := range all {
				p := newPlace(t)
				base := p.root
				p.m, p.root = m, filepath.Join(base, "up", "allocations")
				out, check := outside(p)
				req := p.request(op, "a")
				switch op {
				case protocol.Prepare:
					req = p.refreshRequest("a", "ws://h/", 0)
					if c.name == "the parent" || c.name == "an ancestor" {
						req.Configuration = new(source)
					}
				case protocol.CaptureStartup:
					req = p.captureRequest("a", "life", 1)
				}
				p.must(p.prepareRequest("a"))
				p.write(filepath.Join(p.directory("a"), "state/state.json"), "{}")
				link := filepath.Join(base, c.link)
				if c.target == "" { // the tree itself is elsewhere, so that following would work
					if err := os.Rename(link, link+".real"); err != nil {
						t.Fatal(err)
					}
					p.replaceByLink(link, link+".real")
				} else {
					p.replaceByLink(link, filepath.Join(out, c.target))
				}
				raw, failure := answerOf(m, req)
				got := protocol.Code("")
				if failure != nil {
					got = failure.Code
				}
				if got != c.want[op] {
					t.Errorf("%s, %s of %s: %v, want %q", variant, op, c.name, failure, c.want[op])
				}
				if text := fmt.Sprint(string(raw), failure); strings.Contains(text, "untouched") {
					t.Errorf("%s, %s of %s: what is outside was answered", variant, op, c.name)
				}
				check()
			}
		}
	}
}

func codesFor(ops []protocol.Operation, code protocol.Code) map[protocol.Operation]protocol.Code {
	out := map[protocol.Operation]protocol.Code{}
	for _, op := range ops {
		out[op] = code
	}
	return out
}

// Special files where a regular file or directory should be: a prompt refusal, no hang.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(path string) error{
		"fifo":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"socket":    func(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	}
	if os.Geteuid() == 0 {
		kinds["device"] = func(path string) error { return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))) }
	}
	for kind, create := range kinds {
		for _, c := range []struct {
			name string
			ops  []protocol.Operation
		}{
			{protocol.ManagerDirectory + "/a.lock", []protocol.Operation{protocol.Inspect, protocol.CaptureStartup, protocol.Remove, protocol.ReadState}},
			{protocol.ManagerDirectory + "/a.json", []protocol.Operation{protocol.Inspect, protocol.CaptureStartup, protocol.Remove, protocol.ReadState}},
			{protocol.ManagerDirectory, []protocol.Operation{protocol.Inspect, protocol.CaptureStartup, protocol.Remove, protocol.ReadState}},
			{"a/session.lock", []protocol.Operation{protocol.Remove}},
			{"a/state/state.json", []protocol.Operation{protocol.ReadState}},
			{"a/state/readable.md", []protocol.Operation{protocol.ReadState}},
		} {
			if c.name == protocol.ManagerDirectory && kind == "directory" {
				continue
			}
			p := newPlace(t)
			p.must(p.prepareRequest("a"))
			p.write(filepath.Join(p.directory("a"), "state/other"), "")
			path := filepath.Join(p.root, c.name)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := create(path); err != nil {
				t.Skipf("%s: %v", kind, err)
			}
			for _, op := range c.ops {
				req := p.request(op, "a")
				if op == protocol.CaptureStartup {
					req = p.captureRequest("a", "life", 1)
				}
				start := time.Now()
				if _, failure := answerOf(p.m, req); failure == nil || failure.Code != protocol.UnsafePath {
					t.Errorf("%s at %s: %s: %v", kind, c.name, op, failure)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("%s at %s: %s took %v", kind, c.name, op, took)
				}
			}
		}
	}
}

func TestHardLinkedLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	lock := filepath.Join(p.root, protocol.ManagerDirectory, "a.lock")
	if err := os.Link(lock, filepath.Join(p.root, protocol.ManagerDirectory, "b.lock")); err != nil {
		t.Fatal(err)
	}
	p.refused(p.captureRequest("a", "life", 1), protocol.UnsafePath)
	p.refused(p.prepareRequest("b"), protocol.UnsafePath)
	if p.recordBytes("b") != "" {
		t.Error("b was recorded")
	}
}

func TestManagerDirectoryOfOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	dir := filepath.Join(p.root, protocol.ManagerDirectory)
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		p.refused(p.request(protocol.Inspect, "a"), protocol.UnsafePath)
		p.refused(p.request(protocol.Remove, "a"), protocol.UnsafePath)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.must(p.request(protocol.Inspect, "a"))
	if os.Geteuid() != 0 {
		t.Skip("another owner needs root")
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	p.refused(p.request(protocol.Inspect, "a"), protocol.UnsafePath)
}

// An adversary exchanges a directory of the path with a link to another tree, as fast as
// it can. Every answer is honest, and the other tree stays as it is.
func TestExchangedDirectories(t *testing.T) {
	t.Parallel()
	for name, m := range managers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			base := p.root
			p.m, p.root = m, filepath.Join(base, "swapped", "allocations")
			p.must(p.prepareRequest("a"))
			out, check := outside(p, "allocations")
			p.replaceByLink(filepath.Join(base, "decoy"), out)
			flips := exchange(t, filepath.Join(base, "swapped"), filepath.Join(base, "decoy"))
			rounds := 300
			if long() {
				rounds = 20_000
			}
			answers := map[string]int{}
			for i := range rounds {
				ops := []*protocol.Request{
					p.prepareRequest(fmt.Sprintf("n%d", i)), p.refreshRequest("a", fmt.Sprintf("ws://h/%d", i), 0), p.request(protocol.Inspect, "a"),
					p.request(protocol.ReadState, "a"), p.request(protocol.Remove, fmt.Sprintf("n%d", i/2)),
				}
				_, failure := answerOf(m, ops[i%len(ops)])
				code := "ok"
				if failure != nil {
					code = string(failure.Code)
				}
				answers[code]++
			}
			total := flips()
			for code := range answers {
				switch protocol.Code(code) {
				case "ok", protocol.UnsafePath, protocol.Busy, protocol.NotFound, protocol.RevisionMismatch, protocol.Retired:
				default:
					t.Errorf("answer %s", code)
				}
			}
			t.Logf("%d exchanges; answers %v", total, answers)
			check()
		})
	}
}

// exchange swaps two names until the returned function is called, which tells how often.
func exchange(tb testing.TB, a, b string) func() int64 {
	tb.Helper()
	var stop atomic.Bool
	var flips atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				flips.Add(1)
			}
		}
		if flips.Load()%2 == 1 { // leave the directory where it was
			_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		}
	}()
	var once bool
	end := func() int64 {
		if !once {
			once = true
			stop.Store(true)
			<-done
		}
		return flips.Load()
	}
	tb.Cleanup(func() { end() })
	return end
}

// What a worker may have left in its root: odd names, closed directories, links to
// everywhere, deep and wide trees.
func TestRemoveOddTrees(t *testing.T) {
	t.Parallel()
	for name, m := range managers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.m = m
			out, check := outside(p)
			p.must(p.prepareRequest("a"))
			d := p.directory("a")
			for _, name := range []string{"new\nline", "\xff\xfe", " ", "-rf", "*", strings.Repeat("x", 255), "...", "\u202e", "caf\u00e9", "cafe\u0301"} {
				p.write(filepath.Join(d, "odd", name), secret)
			}
			p.replaceByLink(filepath.Join(d, "out"), out)
			p.replaceByLink(filepath.Join(d, "slash"), "/")
			p.replaceByLink(filepath.Join(d, "loop"), "loop")
			p.write(filepath.Join(d, "ro/in/file"), secret)
			p.write(filepath.Join(d, "closed/file"), secret)
			deep, err := unix.Open(d, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				if err := unix.Mkdirat(deep, "d", 0o700); err != nil {
					t.Fatal(err)
				}
				next, err := unix.Openat(deep, "d", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				_ = unix.Close(deep)
				if err != nil {
					t.Fatal(err)
				}
				deep = next
			}
			_ = unix.Close(deep)
			wide := 2000
			if long() {
				wide = 20_000
			}
			for i := range wide {
				p.write(filepath.Join(d, "wide", fmt.Sprint(i)), "")
			}
			for path, mode := range map[string]os.FileMode{"ro/in": 0o500, "ro": 0o500, "closed": 0} {
				if err := os.Chmod(filepath.Join(d, path), mode); err != nil {
					t.Fatal(err)
				}
			}
			p.must(p.request(protocol.Remove, "a"))
			if left := p.leftovers(); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
			if _, err := os.Lstat(d); err == nil {
				t.Error("the root is still there")
			}
			check()
		})
	}
}

// A mount inside the root: refused before anything is published, also where it is a bind
// mount from the same file system.
func TestMountInside(t *testing.T) {
	p := newPlace(t)
	for name, m := range managers() {
		p.m = m
		host := filepath.Join(p.TempDir(), "host")
		p.write(filepath.Join(host, "file"), "kept")
		id := "m-" + name
		p.must(p.prepareRequest(id))
		at := filepath.Join(p.directory(id), "mnt")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(host, at, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("no mounts here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		before := p.recordBytes(id)
		if f := p.refused(p.request(protocol.Remove, id), protocol.MountInside); *f.Published || p.recordBytes(id) != before {
			t.Errorf("%s: published %v", name, *f.Published)
		}
		if _, err := os.Stat(filepath.Join(host, "file")); err != nil {
			t.Errorf("%s: a host file was deleted: %v", name, err)
		}
		if err := unix.Unmount(at, 0); err != nil {
			t.Fatal(err)
		}
		p.must(p.request(protocol.Remove, id))
	}
}

// A mount that appears after the check stops the deletion; after it is gone the repeat
// finishes.
func TestMountDuringRemoval(t *testing.T) {
	p := newPlace(t)
	host := filepath.Join(p.TempDir(), "host")
	p.write(filepath.Join(host, "file"), "kept")
	p.must(p.prepareRequest("a"))
	p.write(filepath.Join(p.directory("a"), "mnt/x"), "")
	trash := filepath.Join(p.root, protocol.ManagerDirectory, "a.trash", "mnt")
	mounted := false
	m := New(Config{Hook: at(stepDelete, func() error {
		err := unix.Mount(host, trash, "", unix.MS_BIND, "")
		mounted = err == nil
		return err
	})})
	_, failure := answerOf(m, p.request(protocol.Remove, "a"))
	if !mounted {
		t.Skipf("no mounts here: %v", failure)
	}
	t.Cleanup(func() { _ = unix.Unmount(trash, unix.MNT_DETACH) })
	if failure == nil || failure.Code != protocol.IOError || !*failure.Published {
		t.Errorf("%v", failure)
	}
	if rec := p.record("a"); rec.Status != record.Removing {
		t.Errorf("the record is %s", rec.Status)
	}
	if _, err := os.Stat(filepath.Join(host, "file")); err != nil {
		t.Errorf("a host file was deleted: %v", err)
	}
	if err := unix.Unmount(trash, 0); err != nil {
		t.Fatal(err)
	}
	p.must(p.request(protocol.Remove, "a"))
	if left := p.leftovers(); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// Directories with blanks, quotes, controls and every other odd byte are ordinary names.
func TestOddDirectories(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with blank", "it's", `q"q`, "$HOME", "a;b", "tab\tnew\nline", "\x01\x7f", "\u202e", "...", "-rf", "\u2028", strings.Repeat("y", 255)} {
		p := newPlace(t)
		p.root = filepath.Join(p.root, name)
		p.must(p.prepareRequest("a"))
		managed, err := p.m.Resolve(configuration.Path(p.directory("a")))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		_ = managed.Lease.Close()
		p.must(p.request(protocol.Remove, "a"))
	}
}

// A component that the user may pass but not read names itself.
func TestUnreadableAncestor(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs to become another user")
	}
	base, err := os.MkdirTemp("/tmp", "manager")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p := newPlace(t)
	closed := filepath.Join(base, "closed")
	p.root = filepath.Join(closed, "allocations")
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{base: 0o755, closed: 0o711} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(p.root, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	cmd := childCommand(t, p.prepareRequest("a"), 0)
	cmd.Path = copyOfSelf(t, base)
	cmd.SysProcAttr = &sysProcAttr{Credential: &credential{Uid: 12345, Gid: 12345}}
	out, _ := cmd.Output()
	if !strings.Contains(string(out), `"permission_denied"`) || !strings.Contains(string(out), closed) {
		t.Errorf("%s", out)
	}
}
