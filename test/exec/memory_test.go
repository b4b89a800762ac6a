package exec

import (
	"fmt"
	"runtime"
	"testing"

	"simplex/process"
	"simplex/test/conformance/rig"
)

// constant is what a process may cost besides what it keeps, in bytes: the waste of the
// last block of each of two streams, and bookkeeping.
const constant = 2*32<<10 + 16<<10

// What a process keeps has a bound whatever it prints, while it prints and after.
func TestMemoryOfFloodsIsBounded(t *testing.T) {
	for _, tty := range []bool{false, true} {
		t.Run(map[bool]string{false: "pipe", true: "tty"}[tty], func(t *testing.T) {
			const sessions = 16
			d := newDesk(t, tty, process.Config{})
			d.run(":") // what the runtime makes once
			before := live()
			var ids []string
			for range sessions {
				ids = append(ids, d.start(fmt.Sprintf("head -c %d /dev/zero >&2; head -c %d /dev/zero; echo; echo flooded; read x", sized(2<<20, 64<<20), sized(2<<20, 64<<20))))
			}
			for _, id := range ids {
				d.until(id, "flooded")
			}
			bound := int64(process.DefaultMaxOutputBytes + 2*process.DefaultTailBytes + constant)
			within := func(when string) {
				each := (live() - before) / sessions
				t.Logf("%s: %d bytes each, the bound is %d", when, each, bound)
				if each > bound {
					t.Error("the bound is exceeded")
				}
			}
			within("running")
			for _, id := range ids {
				d.send(id, "\n")
				d.finished(id)
			}
			within("retained")
			d.ok("poll_process", args{"release_exited": true, "include_output": false})
			if left := live() - before; left > sessions*bound/4 { // the rest of the process is alive, too
				t.Errorf("%d bytes are left after the release", left)
			}
		})
	}
}

// live is the heap that is in use, in bytes.
func live() int64 {
	runtime.GC()
	runtime.GC() // pools give up what they hold at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The worker as the kernel sees it: a flood costs it no more than the result that is kept.
func TestWorkerStaysSmallUnderFloods(t *testing.T) {
	const grown = 4 << 20
	flood := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", sized(64<<20, 1<<30))
	var script []rig.Reply
	script = append(script, rig.Reply{Text: "Working.", Calls: []rig.Call{command("c0", "echo warm; seq 20000", false)}}, rig.Reply{Text: "warm"})
	for _, tty := range []bool{false, true} {
		script = append(script, rig.Reply{Text: "Working.", Calls: []rig.Call{command("c1", flood, tty)}}, rig.Reply{Text: "done"})
	}
	r := rig.New(t, script...)
	p := r.Online()
	r.Payload(rig.Approved("q1", "warm up"))
	r.Completes()
	before := resident(t, p.PID(), "VmHWM")
	for _, id := range []string{"pipe", "tty"} {
		r.Payload(rig.Approved(id, "flood"))
		r.Completes()
		peak := resident(t, p.PID(), "VmHWM")
		t.Logf("%s: peak %d KiB before, %d KiB after", id, before>>10, peak>>10)
		if !rig.Race && peak-before > grown { // the detector's own memory is no measure
			t.Errorf("%s: the worker grew by %d KiB", id, (peak-before)>>10)
		}
		before = peak
	}
	p.Stop()
}
