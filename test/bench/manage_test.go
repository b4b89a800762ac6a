package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simplex/manager/protocol"
)

// The programs that scripts/bench-manage.sh builds. Without them these benchmarks are
// skipped.
const (
	managerVariable = "SIMPLEX_BENCH_MANAGER" // the static build of simplex
	floorsVariable  = "SIMPLEX_BENCH_FLOORS"  // the folder of hello-full-static, floormanage-full and runit
)

// yard is a folder of allocations and the programs that compete in it.
type yard struct {
	b       *testing.B
	manager string
	floors  string
	root    string
}

func newYard(b *testing.B) *yard {
	b.Helper()
	y := &yard{b: b, manager: os.Getenv(managerVariable), floors: os.Getenv(floorsVariable), root: b.TempDir()}
	if y.manager == "" || y.floors == "" {
		b.Skip("run by scripts/bench-manage.sh, which builds what it compares")
	}
	return y
}

// request is a request about the allocation id; edit completes it.
func (y *yard) request(operation protocol.Operation, id string, edit func(*protocol.Request)) []string {
	req := &protocol.Request{RequestID: "bench", Operation: operation, AllocationID: id, Directory: filepath.Join(y.root, id)}
	if edit != nil {
		edit(req)
	}
	argument, err := req.Encode()
	if err != nil {
		panic(err)
	}
	return []string{y.manager, "manage", "--request", argument}
}

func (y *yard) prepare(id string) []string {
	return y.request(protocol.Prepare, id, func(r *protocol.Request) {
		r.Configuration = new("client: {endpoint: \"ws://127.0.0.1:1/events\"}\n# " + strings.Repeat("x", 3000) + "\n")
	})
}

// refresh sets another endpoint; revision is the one that the allocation has.
func (y *yard) refresh(id string, revision uint64) []string {
	return y.request(protocol.Prepare, id, func(r *protocol.Request) {
		r.ExpectedRevision = &revision
		r.Refresh = &protocol.Refresh{ClientEndpoint: new(fmt.Sprintf("ws://127.0.0.1:1/%d", revision))}
	})
}

func (y *yard) capture(id string, n, revision uint64) []string {
	return y.request(protocol.CaptureStartup, id, func(r *protocol.Request) {
		r.LifecycleID, r.ExpectedRevision = new("life-"+strconv.FormatUint(n, 10)), &revision
	})
}

// floor is a request to floormanage, whose document is the folder's own.
func (y *yard) floor(operation string) []string {
	argument := encode(fmt.Sprintf(`{"op":%q,"dir":%q}`, operation, filepath.Join(y.root, "floor")))
	return []string{filepath.Join(y.floors, "floormanage-full"), "--request", argument}
}

func (y *yard) hello() []string { return []string{filepath.Join(y.floors, "hello-full-static")} }

// run runs one program to its end, its output to nowhere.
func (y *yard) run(argv []string) {
	if err := exec.Command(argv[0], argv[1:]...).Run(); err != nil {
		panic(fmt.Errorf("%s %s: %w", filepath.Base(argv[0]), argv[1:], err))
	}
}

func BenchmarkManageInspect(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	inspect := y.request(protocol.Inspect, "a", nil)
	race(b, func() { y.run(inspect) }, func() { y.run(y.hello()) }).
		cost(b, "manage inspect / hello with the same libraries", 1.25)
}

func BenchmarkManageRefresh(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	y.run(y.floor("init"))
	var revision uint64
	race(b, func() { revision++; y.run(y.refresh("a", revision)) }, func() { y.run(y.floor("publish")) }).
		cost(b, "manage refresh / floormanage publish", 1.3)
}

func BenchmarkManageCapture(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	y.run(y.floor("init"))
	var n uint64
	race(b, func() { n++; y.run(y.capture("a", n, 1)) }, func() { y.run(y.floor("publish")) }).
		cost(b, "manage capture / floormanage publish", 1.3)
}

// managersAtOnce is how many work on different allocations of one root.
const managersAtOnce = 8

// All take the parent's lock exclusively and none waits for it, so some are told busy. As
// a Hub does, each caller then asks again after a short, jittered wait.
func BenchmarkManageAtOnce(b *testing.B) {
	y := newYard(b)
	id := func(i int) string { return "a" + strconv.Itoa(i) }
	for i := range managersAtOnce {
		y.run(y.prepare(id(i)))
	}
	var revision uint64
	var retries, rounds atomic.Int64
	race(b, func() {
		revision++
		rounds.Add(1)
		var wait sync.WaitGroup
		for i := range managersAtOnce {
			wait.Go(func() { retries.Add(int64(y.insist(y.refresh(id(i), revision)))) })
		}
		wait.Wait()
	}, func() {
		revision++
		for i := range managersAtOnce {
			y.run(y.refresh(id(i), revision))
		}
	}).cost(b, "8 refreshes at once / one after the other", 1.2)
	b.ReportMetric(float64(retries.Load())/float64(rounds.Load()), "retries")
}

// BenchmarkManageLooksAtOnce has no lock to wait for.
func BenchmarkManageLooksAtOnce(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	inspect := y.request(protocol.Inspect, "a", nil)
	race(b, func() {
		var wait sync.WaitGroup
		for range managersAtOnce {
			wait.Go(func() { y.run(inspect) })
		}
		wait.Wait()
	}, func() {
		for range managersAtOnce {
			y.run(inspect)
		}
	}).cost(b, "8 inspects at once / one after the other", 1.2)
}

// insist repeats a request that was refused as busy, and tells how often.
func (y *yard) insist(argv []string) (retries int) {
	for {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err == nil {
			return retries
		}
		if !strings.Contains(string(out), `"code":"busy"`) || retries == 100 {
			panic(fmt.Errorf("%w: %s", err, out))
		}
		retries++
		time.Sleep(time.Millisecond + time.Duration(rand.Int64N(int64(8*time.Millisecond)))) // part of what is measured
	}
}
