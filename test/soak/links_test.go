package soak

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"simplex/test/conformance/rig"
)

// memoryBound is the most that a worker may ever have resident in this test, in KiB: the
// 16 MiB of the outbox and the transport, twice for what the collector has not yet seen,
// and 64 MiB for the program, its conversation of a few MB and its requests.
const memoryBound = (2*16 + 64) << 10

const linkPath = "/worker"

// bad is one kind of trouble while a run goes on; it ends when the Hub knows how the run
// ended.
type bad struct {
	name string
	loss bool // events that are in the sockets may be lost
	play func(d *driver, id string)
}

func troubles() []bad {
	return []bad{
		{"loss of 5 % and 10 ms of delay", false, func(d *driver, id string) {
			d.world.link.loss.Store(500)
			d.world.link.delay.Store(int64(10 * time.Millisecond))
			d.ended(id)
			d.world.link.loss.Store(0)
			d.world.link.delay.Store(0)
		}},
		{"a half-open cut", true, func(d *driver, id string) {
			before, failures := d.connections(), strings.Count(d.program.Stderr.String(), gaveUp)
			d.world.link.cut.Store(true)
			d.program.Says(gaveUp, failures+1) // pings went unanswered
			d.world.link.cut.Store(false)
			d.settled(id, before)
		}},
		{"a stopped reader", false, func(d *driver, id string) {
			d.hub.stall()
			d.model.Request(d.t, runLength*d.run) // the run does not wait for the reader
			d.hub.resume()
			d.ended(id)
		}},
		{"a connection that is reset", true, func(d *driver, id string) {
			before := d.connections()
			d.hub.drop()
			d.settled(id, before)
		}},
	}
}

// gaveUp is what the worker logs when it lost a connection or got none.
const gaveUp = "hub connection failed"

// runLength is how many exchanges a run has; all but the last one call a tool.
const runLength = 5

// TestBadLinks runs tool exchanges over a link with loss, delay, half-open cuts and a
// reader that stops, until the worker has made so many events.
func TestBadLinks(t *testing.T) {
	total := pick(800, 10_000)
	w := newWorld(t)
	h := newHub()
	h.listen(w.listen(w.hub, hubIP+":9000"))
	t.Cleanup(h.down)
	r := rig.New(t)
	r.Model = rig.NewModel(t, w.listen(w.worker, "127.0.0.1:0"))
	r.Model.Answer = func(n int, body string) rig.Reply {
		if n%runLength == 0 {
			return rig.Reply{Text: strings.Repeat("x", 2000)}
		}
		return rig.Reply{Text: "Working.", Calls: []rig.Call{{ID: fmt.Sprintf("c%d", n), Name: "no_such_tool", Arguments: "{}"}}}
	}
	r.Endpoint = "ws://" + hubIP + ":9000" + linkPath
	r.NoConfirm = true
	r.Transport = "initial_backoff_ms: 50, max_backoff_ms: 500, idle_timeout_seconds: 1"
	r.Prefix = []string{"ip", "netns", "exec", w.worker}
	p := r.Start()
	ctx, cancel := context.WithTimeout(context.Background(), pick(60*time.Second, 20*time.Minute))
	defer cancel()
	d := &driver{t: t, ctx: ctx, hub: h, world: w, program: p, model: r.Model, shaken: make(map[string]bool)}
	d.connected()
	kinds := troubles()
	for i := 0; d.last() < uint64(total) || i < len(kinds); i++ {
		for range pick(2, 8) {
			d.ended(d.begin())
		}
		kind := kinds[i%len(kinds)]
		id := d.begin()
		d.await("no start of "+id, func(p *peer) bool { return has(p, id, "input_committed") })
		d.shaken[id] = kind.loss
		kind.play(d, id)
	}
	_, peak := resident(t, p.PID())
	p.Stop()
	d.judge()
	t.Logf("%d events made, %d came; %d runs; %d connections; %d frames passed, %d lost; peak %d KiB of %d",
		d.last(), len(h.peers[linkPath].events), d.run, h.peers[linkPath].conns, w.link.passed.Load(), w.link.lost.Load(), peak, memoryBound)
	if peak > memoryBound {
		t.Errorf("peak of %d KiB, bound %d", peak, memoryBound)
	}
	for _, fault := range h.faults {
		t.Error(fault)
	}
}
