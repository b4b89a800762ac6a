package manager

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/load"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
)

// eventually tries until it works: a killed process's children may hold its locks for a
// moment.
func eventually(tb testing.TB, try func() *protocol.Error) {
	tb.Helper()
	end := time.Now().Add(2 * time.Second)
	for {
		failure := try()
		if failure == nil {
			return
		}
		if failure.Code != protocol.Busy || time.Now().After(end) {
			tb.Fatal(failure)
		}
	}
}

// What may happen beside a worker, and what may not.
func TestBesideAWorker(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	p.must(p.captureRequest("a", "life", 1))
	w := startWorker(t, configuration.Path(p.directory("a")))
	if w.says != "running a" {
		t.Fatalf("the worker says %q", w.says)
	}
	if got := p.must(p.request(protocol.Inspect, "a")); string(got["lease"]) != `"held"` {
		t.Errorf("inspect: %v", got["lease"])
	}
	p.must(p.request(protocol.ReadState, "a"))
	p.must(p.forkRequest("child", "a", "life", 1))
	before := tree(t, p.root)
	for _, req := range []*protocol.Request{
		p.prepareRequest("a"), p.refreshRequest("a", "ws://h/", 1), p.captureRequest("a", "life", 1), p.request(protocol.Remove, "a"),
	} {
		start := time.Now()
		if f := p.refused(req, protocol.Busy); f.Published == nil || *f.Published {
			t.Errorf("%s: published is %v", req.Operation, f.Published)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: busy after %v", req.Operation, took)
		}
	}
	if tree(t, p.root) != before {
		t.Error("a busy answer changed something")
	}
	w2 := startWorker(t, configuration.Path(p.directory("a"))) // session.lock, not the lease, keeps a second worker away
	if w2.says != "running a" {
		t.Errorf("the second worker says %q", w2.says)
	}
	w2.stop()
	w.kill()
	eventually(t, func() *protocol.Error { _, f := answerOf(p.m, p.request(protocol.Remove, "a")); return f })
	if w := startWorker(t, configuration.Path(p.directory("a"))); !strings.HasPrefix(w.says, "refused: ") {
		t.Errorf("after the removal a worker says %q", w.says)
	}
}

// A reader is no worker: it is not shown as one, and excludes a removal only.
func TestReadersShareAndAreNotWorkers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	reading, failure := p.m.Handle(t.Context(), p.request(protocol.ReadState, "a"))
	if failure != nil {
		t.Fatal(failure)
	}
	p.must(p.request(protocol.ReadState, "a"))
	if got := p.must(p.request(protocol.Inspect, "a")); string(got["lease"]) != `"idle"` {
		t.Errorf("inspect: %s", got["lease"])
	}
	p.refused(p.request(protocol.Remove, "a"), protocol.Busy)
	reading.Close()
	p.must(p.request(protocol.Remove, "a"))
}

// A worker with an ordinary configuration holds session.lock only, with either kind of
// lock.
func TestLegacyWorkerKeepsItsRoot(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	path := filepath.Join(p.directory("a"), "session.lock")
	p.write(path, "")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p.refused(p.request(protocol.Remove, "a"), protocol.Busy)
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	p.refused(p.request(protocol.Remove, "a"), protocol.Busy)
	_ = f.Close()
	p.must(p.request(protocol.Remove, "a"))
}

func TestResolve(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	plain := filepath.Join(p.root, "plain.yaml")
	p.write(plain, source+"# simplex_managed_allocation\n")
	if m, err := p.m.Resolve(plain); m != nil || err != nil {
		t.Errorf("an ordinary configuration: %v, %v", m, err)
	}
	if _, err := p.m.Resolve(filepath.Join(p.root, "missing")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrNotResolved) {
		t.Errorf("a missing file: %v", err)
	}
	p.must(p.prepareRequest("a"))
	config := configuration.Path(p.directory("a"))
	managed, err := p.m.Resolve(config)
	if err != nil {
		t.Fatal(err)
	}
	defer managed.Lease.Close()
	cfg, err := managed.Config(load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Persistence.Directory != p.directory("a") || cfg.BaseDir != filepath.Dir(config) || cfg.Client.Endpoint.Host != "127.0.0.1" {
		t.Errorf("configuration: %+v in %s", cfg.Persistence, cfg.BaseDir)
	}
	if _, failure := answerOf(p.m, p.request(protocol.Remove, "a")); failure == nil || failure.Code != protocol.Busy {
		t.Errorf("remove beside the lease: %v", failure)
	}
}

// Every way in which a reference may not be the one that was made, or its allocation not
// be what it was.
func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *place, config string) (path string)
		want   string
	}{
		"a copy": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.write(filepath.Join(p.root, "copy.yaml"), string(raw))
			return filepath.Join(p.root, "copy.yaml")
		}, "copied or moved"},
		"a second name": {func(p *place, config string) string {
			_ = os.Link(config, filepath.Join(p.root, "hard.yaml"))
			return filepath.Join(p.root, "hard.yaml")
		}, "copied or moved"},
		"a link": {func(p *place, config string) string {
			_ = os.Symlink(config, filepath.Join(p.root, "soft.yaml"))
			return filepath.Join(p.root, "soft.yaml")
		}, "copied or moved"},
		"a moved root": {func(p *place, config string) string {
			_ = os.Rename(p.directory("a"), p.directory("b"))
			return configuration.Path(p.directory("b"))
		}, "copied or moved"},
		"a copied root": {func(p *place, config string) string {
			_ = os.CopyFS(p.directory("b"), os.DirFS(p.directory("a")))
			return configuration.Path(p.directory("b"))
		}, "copied or moved"},
		"an edited one": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.write(config, string(raw)+"client: {}\n")
			return config
		}, ""},
		"an edited comment": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.write(config, strings.TrimPrefix(string(raw), "#"+" Generated"))
			return config
		}, ""},
		"a comment taken away": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.write(config, string(raw[bytes.IndexByte(raw, '{'):]))
			return config
		}, "edited"},
		"another nonce": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.write(config, strings.Replace(string(raw), `"nonce":"`, `"nonce":"f`, 1))
			return config
		}, "another allocation"},
		"retired": {func(p *place, config string) string {
			raw, _ := os.ReadFile(config)
			p.must(p.request(protocol.Remove, "a"))
			p.write(config, string(raw)) // a delayed start of a removed allocation
			return config
		}, "removed"},
		"no record": {func(p *place, config string) string {
			_ = os.Remove(filepath.Join(p.root, protocol.ManagerDirectory, "a.json"))
			return config
		}, "no record"},
		"a damaged record": {func(p *place, config string) string {
			p.write(filepath.Join(p.root, protocol.ManagerDirectory, "a.json"), "{}")
			return config
		}, "damaged"},
		"a linked state": {func(p *place, config string) string {
			_ = os.Symlink("/tmp", filepath.Join(p.directory("a"), "state"))
			return config
		}, "symbolic link"},
		"an exclusive operation": {func(p *place, config string) string {
			f, _ := os.OpenFile(filepath.Join(p.root, protocol.ManagerDirectory, "a.lock"), os.O_RDWR, 0)
			p.Cleanup(func() { _ = f.Close() })
			_ = unix.Flock(int(f.Fd()), unix.LOCK_EX)
			return config
		}, "try again"},
		"a placeholder": {func(p *place, config string) string {
			p.must(p.captureRequest("a", "life", 1))
			p.must(p.forkRequest("child", "a", "life", 1))
			return configuration.Path(p.directory("child"))
		}, "placeholder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(p.prepareRequest("a"))
			path := c.change(p, configuration.Path(p.directory("a")))
			managed, err := p.m.Resolve(path)
			if managed != nil {
				_ = managed.Lease.Close()
			}
			if c.want == "" { // no YAML any more, or two keys: an ordinary configuration that load refuses, or a refusal
				if managed != nil {
					t.Error("accepted")
				}
				return
			}
			if !errors.Is(err, ErrNotResolved) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if name == "an exclusive operation" && !errors.Is(err, durable.ErrLocked) {
				t.Errorf("not known as busy: %v", err)
			}
		})
	}
}

// A fork runs once it has endpoints of its own.
func TestForkRunsAfterARefresh(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	p.must(p.captureRequest("a", "life", 1))
	p.must(p.forkRequest("child", "a", "life", 1))
	p.must(p.refreshRequest("child", "ws://127.0.0.1:2/x", 1))
	managed, err := p.m.Resolve(configuration.Path(p.directory("child")))
	if err != nil {
		t.Fatal(err)
	}
	if err := managed.Lease.Close(); err != nil {
		t.Error(err)
	}
}

// A file of any size that is no reference costs no memory.
func TestResolveOfAHugeFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // not every file system holds such a file
	}
	if managed, err := New(Config{}).Resolve(path); managed != nil || err != nil {
		t.Errorf("%v, %v", managed, err)
	}
}
