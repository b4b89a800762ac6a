package manager

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// scenario is one mutating operation from one starting state.
type scenario struct {
	name    string
	setup   func(p *place)
	request func(p *place) *protocol.Request
	final   record.Status // of the allocation, after the request or its repeat
}

func scenarios() []scenario {
	ready := func(p *place) { p.must(p.prepareRequest("a")) }
	captured := func(p *place) {
		ready(p)
		p.must(p.captureRequest("a", "life", 1))
	}
	used := func(p *place) {
		captured(p)
		d := p.directory("a")
		p.write(filepath.Join(d, "session.lock"), "")
		p.write(filepath.Join(d, "state/state.json"), `{"key":"`+secret+`"}`)
		p.write(filepath.Join(d, "memory/old/state.md"), secret)
		if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(d, "link")), os.Chmod(filepath.Join(d, "memory/old"), 0)); err != nil {
			p.Fatal(err)
		}
	}
	return []scenario{
		{"prepare below missing ancestors", func(p *place) {
			p.root = filepath.Join(p.root, "one", "two")
		}, func(p *place) *protocol.Request { return p.prepareRequest("a") }, record.Ready},
		{"prepare beside others", func(p *place) { p.must(p.prepareRequest("other")) }, func(p *place) *protocol.Request {
			req := p.prepareRequest("a")
			req.Refresh = &protocol.Refresh{ClientEndpoint: new("ws://h:1/" + secret)}
			return req
		}, record.Ready},
		{"refresh", ready, func(p *place) *protocol.Request { return p.refreshRequest("a", "ws://h:9/x", 1) }, record.Ready},
		{"capture", ready, func(p *place) *protocol.Request { return p.captureRequest("a", "life", 1) }, record.Ready},
		{"fork", captured, func(p *place) *protocol.Request { return p.forkRequest("child", "a", "life", 1) }, record.Ready},
		{"remove", used, func(p *place) *protocol.Request { return p.request(protocol.Remove, "a") }, record.Retired},
		{"remove a half-prepared one", func(p *place) { p.killedPrepare("a", stepPlace) }, func(p *place) *protocol.Request {
			return p.request(protocol.Remove, "a")
		}, record.Retired},
		{"remove without root", func(p *place) {
			ready(p)
			p.rootless = true
			if err := os.RemoveAll(p.directory("a")); err != nil {
				p.Fatal(err)
			}
		}, func(p *place) *protocol.Request { return p.request(protocol.Remove, "a") }, record.Retired},
	}
}

// begin makes the scenario's starting state in a fresh place.
func (sc scenario) begin(tb testing.TB) (*place, *protocol.Request) {
	tb.Helper()
	p := newPlace(tb)
	sc.setup(p)
	return p, sc.request(p)
}

// finish repeats the request twice: it ends as if nothing had happened, and the second
// time changes nothing.
func (sc scenario) finish(p *place, req *protocol.Request, where string) {
	p.Helper()
	first, failure := answerOf(p.m, req)
	if failure != nil {
		p.Errorf("%s: repeated: %v", where, failure)
		return
	}
	if rec := p.record(req.AllocationID); record.StatusOf(rec) != sc.final {
		p.Errorf("%s: it ended %s", where, record.StatusOf(rec))
	}
	p.checkSound(where)
	if left := p.leftovers(); len(left) > 0 {
		p.Errorf("%s: left over after the repeat: %v", where, left)
	}
	before := tree(p, p.root)
	second, failure := answerOf(p.m, req)
	if failure != nil || tree(p, p.root) != before {
		p.Errorf("%s: the second repeat changed something: %v", where, failure)
	}
	if a, b := members(p, first), members(p, second); string(a["revision"]) != string(b["revision"]) {
		p.Errorf("%s: revision %s, then %s", where, a["revision"], b["revision"])
	}
	if sc.final == record.Retired {
		if held := secretsBelow(p, p.root); len(held) > 0 {
			p.Errorf("%s: the secret is still in %v", where, held)
		}
	}
}

// killedPrepare leaves what a prepare leaves that was killed before a label.
func (p *place) killedPrepare(id, label string) {
	p.Helper()
	dead := false
	m := New(Config{Hook: func(at string, _ durable.Op) error {
		if dead = dead || at == label; dead {
			return unix.EIO
		}
		return nil
	}})
	if _, failure := answerOf(m, p.prepareRequest(id)); failure == nil || !dead {
		p.Fatalf("the prepare was not stopped at %s: %v", label, failure)
	}
}

// A process that kills itself before each labelled call of every mutating operation; the
// short run leaves out the calls that only look, as nothing is another before them than
// before the next change.
func TestKillAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for n := 1; ; n++ {
				if dead := killAt(t, sc, n); !dead {
					break
				}
				points++
			}
			t.Logf("%d points, every process seen dead", points)
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

func killAt(t *testing.T, sc scenario, n int) bool {
	t.Helper()
	p, req := sc.begin(t)
	err := childCommand(t, req, n).Run()
	if err == nil {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("point %d: the process was not killed: %v", n, err)
	}
	where := fmt.Sprintf("killed before call %d", n)
	if left := p.leftovers(); len(left) > 1 {
		t.Errorf("%s: more than one temporary name: %v", where, left)
	}
	p.checkSound(where)
	sc.finish(p, req, where)
	return true
}

// fault fails the calls from the n-th on, or only that one.
type fault struct {
	n      int
	err    error
	sticky bool
	seen   int
	fired  int
	label  string // where it struck first
}

func (f *fault) hook(label string, op durable.Op) error {
	if f.sticky && !long() && !changes(op.Call) && f.seen < f.n {
		return nil // fails like the next change would
	}
	if f.seen++; f.seen == f.n || f.sticky && f.seen > f.n {
		if f.fired++; f.fired == 1 {
			f.label = label
		}
		return f.err
	}
	return nil
}

func long() bool { return os.Getenv("SIMPLEX_LONG") != "" }

// faultKinds are the errors that are tried; the long run tries all of them both ways.
func faultKinds() []fault {
	if !long() {
		return []fault{{err: unix.EIO}, {err: unix.ENOSPC, sticky: true}}
	}
	var out []fault
	for _, err := range []error{unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EMFILE} {
		out = append(out, fault{err: err}, fault{err: err, sticky: true})
	}
	return out
}

// Every labelled call fails once, or that call and all after it.
func TestFaultAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			labels := map[string]bool{}
			for _, kind := range faultKinds() {
				for n := 1; ; n++ {
					f := &fault{n: n, err: kind.err, sticky: kind.sticky}
					if !faultAt(t, sc, f) {
						break
					}
					labels[f.label] = true
				}
			}
			if !labels[safepath.LabelRename] || !labels[safepath.LabelSync] || !labels[safepath.LabelLock] {
				t.Errorf("the faults missed a kind of call: %v", labels)
			}
		})
	}
}

func faultAt(t *testing.T, sc scenario, f *fault) bool {
	t.Helper()
	p, req := sc.begin(t)
	before, old := p.recordBytes(req.AllocationID), p.leftovers()
	_, failure := answerOf(New(Config{Hook: f.hook}), req)
	if f.fired == 0 {
		return false
	}
	where := fmt.Sprintf("%v at call %d (%s), sticky %v", f.err, f.n, f.label, f.sticky)
	if failure != nil {
		checkFailure(p, req, failure, before, where)
		if left := p.leftovers(); !f.sticky && len(old) == 0 && len(left) > 0 {
			t.Errorf("%s: left over after a reported failure: %v", where, left)
		}
	}
	p.checkSound(where)
	sc.finish(p, req, where)
	return true
}

// checkFailure holds the answer against what is on disk.
func checkFailure(p *place, req *protocol.Request, failure *protocol.Error, before, where string) {
	p.Helper()
	if failure.Code != protocol.IOError {
		p.Errorf("%s: answered %v", where, failure)
	}
	changed := p.recordBytes(req.AllocationID) != before
	if failure.Published != nil && *failure.Published != changed || failure.Published == nil && changed {
		p.Errorf("%s: published is a lie: %v, changed %v", where, failure.Published, changed)
	}
	if strings.Contains(failure.Message, secret) {
		p.Errorf("%s: the message holds the secret", where)
	}
}

// Faults upon faults: an error, then a kill in the repeat, then the request once more.
func TestCompoundFaults(t *testing.T) {
	t.Parallel()
	all := scenarios()
	rounds := 100
	if long() {
		rounds = 2000
	}
	r := seeded(t)
	for i := range rounds {
		sc := all[r.IntN(len(all))]
		p, req := sc.begin(t)
		first := &fault{n: 1 + r.IntN(120), err: unix.EIO, sticky: r.IntN(2) == 0}
		_, _ = answerOf(New(Config{Hook: first.hook}), req)
		dead := &fault{n: 1 + r.IntN(120), err: unix.EIO, sticky: true} // what a killed process leaves
		_, _ = answerOf(New(Config{Hook: dead.hook}), req)
		where := fmt.Sprintf("round %d, %s, fault at %d, dead at %d", i, sc.name, first.n, dead.n)
		p.checkSound(where)
		sc.finish(p, req, where)
		if t.Failed() {
			return
		}
	}
}

// Interrupted calls and short writes are no failures.
func TestInterruptsAreRepeated(t *testing.T) {
	t.Parallel()
	for _, err := range []error{unix.EINTR, durable.ShortWrite(1)} {
		p := newPlace(t)
		asked := map[string]int{}
		m := New(Config{Hook: func(label string, op durable.Op) error {
			if op.Call == safepath.CallMark || op.Call == durable.CallClose {
				return nil
			}
			if err == unix.EINTR || op.Call == durable.CallWrite {
				if asked[label]++; asked[label]%2 == 1 {
					return err
				}
			}
			return nil
		}})
		if _, failure := answerOf(m, p.prepareRequest("a")); failure != nil {
			t.Errorf("%v: %v", err, failure)
		}
		p.checkSound(err.Error())
	}
}

// The number of fsyncs is part of what the caller pays for.
func TestSyncsPerOperation(t *testing.T) {
	t.Parallel()
	most := map[string]int{
		"prepare below missing ancestors": 12, "prepare beside others": 9, "refresh": 2, "capture": 2, "fork": 9, "remove": 7,
	}
	for _, sc := range scenarios() {
		p, req := sc.begin(t)
		syncs := 0
		m := New(Config{Hook: func(_ string, op durable.Op) error {
			if op.Call == durable.CallFsync {
				syncs++
			}
			return nil
		}})
		if _, failure := answerOf(m, req); failure != nil {
			t.Fatalf("%s: %v", sc.name, failure)
		}
		if want, ok := most[sc.name]; ok && syncs != want {
			t.Errorf("%s: %d fsyncs, want %d", sc.name, syncs, want)
		}
		p.checkSound(sc.name)
	}
}

// Between two fsyncs nothing is renamed that was not synced: file, then name.
func TestPublicationOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	var calls []string
	m := New(Config{Hook: func(_ string, op durable.Op) error {
		switch op.Call {
		case durable.CallWrite, durable.CallFsync, durable.CallRename, durable.CallClose:
			calls = append(calls, string(op.Call)+" "+filepath.Base(op.Name))
		}
		return nil
	}})
	if _, failure := answerOf(m, p.refreshRequest("a", "ws://h/x", 0)); failure != nil {
		t.Fatal(failure)
	}
	want := []string{"write a.json.tmp", "fsync a.json.tmp", "close a.json.tmp", "rename a.json", "fsync .simplex-manager"}
	at := slices.Index(calls, want[0])
	if at < 0 || !slices.Equal(calls[at:at+len(want)], want) {
		t.Errorf("%q, want %q", calls, want)
	}
}
