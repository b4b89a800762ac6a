package soak

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

// driver makes runs on one worker and knows which of them were disturbed.
type driver struct {
	t       *testing.T
	ctx     context.Context
	hub     *hub
	world   *world
	program *rig.Program
	model   *rig.Model
	run     int
	shaken  map[string]bool // runs whose events may be lost
}

// peer is the worker's side; the hub's lock is held, or nothing goes on.
func (d *driver) peer() *peer {
	p := d.hub.peers[linkPath]
	if p == nil {
		p = new(peer)
	}
	return p
}

func (d *driver) await(what string, done func(*peer) bool) {
	d.t.Helper()
	if err := d.hub.await(d.ctx, func() bool { return done(d.peer()) }); err != nil {
		d.t.Fatalf("%s: %v\n%.4000s", what, err, d.program.Stderr)
	}
}

func (d *driver) connected() {
	d.t.Helper()
	d.await("no connection", func(p *peer) bool { return p.ws != nil })
}

func (d *driver) last() (seq uint64) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	if events := d.peer().events; len(events) > 0 {
		seq = events[len(events)-1].Sequence
	}
	return seq
}

// begin sends the next input.
func (d *driver) begin() string {
	d.t.Helper()
	d.run++
	id := fmt.Sprintf("q%d", d.run)
	d.connected()
	if !d.hub.send(linkPath, "payload", rig.Approved(id, "work")) {
		d.t.Fatalf("%s could not be sent", id)
	}
	return id
}

func (d *driver) ended(id string) {
	d.t.Helper()
	d.await("no end of "+id, func(p *peer) bool { return has(p, id, "run_finished") })
}

func has(p *peer, id, name string) bool {
	for i := len(p.events) - 1; i >= 0; i-- {
		if e := &p.events[i]; e.RequestID == id && e.Name == name {
			return true
		}
	}
	return false
}

// connections counts the worker's connections so far.
func (d *driver) connections() int {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	return d.peer().conns
}

// settled waits for a connection after the first n and learns from it how the run stands:
// its end may be among the events that were lost.
func (d *driver) settled(id string, n int) {
	d.t.Helper()
	d.await("no reconnect", func(p *peer) bool { return p.conns > n && p.ws != nil })
	if !d.hub.send(linkPath, "signal", rig.Op("status")) {
		d.t.Fatal("status could not be sent")
	}
	var active bool
	d.await("no status", func(p *peer) bool {
		for i := len(p.events) - 1; i >= 0 && p.events[i].conn > n; i-- {
			if e := &p.events[i]; e.Name == "status" {
				active = strings.Contains(string(e.Data), `"active":true`)
				return true
			}
		}
		return false
	})
	if active {
		d.ended(id)
	}
}

// judge looks at all events: without a gap within each connection, none twice, and the
// lifecycle of every run that was not shaken whole. What a dead connection still had in its
// socket may come after what a newer one brought.
func (d *driver) judge() {
	d.t.Helper()
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	newest := make(map[int]uint64) // by connection
	came := make(map[uint64]bool)
	seen := make(map[string]string)
	for _, e := range d.peer().events {
		if last, ok := newest[e.conn]; ok && e.Sequence != last+1 || came[e.Sequence] {
			d.t.Fatalf("event %d on connection %d after %d, came before: %v", e.Sequence, e.conn, last, came[e.Sequence])
		}
		newest[e.conn], came[e.Sequence] = e.Sequence, true
		switch e.Name {
		case "input_admitted", "run_started", "input_committed", "run_finished":
			seen[e.RequestID] += e.Name + " "
		}
	}
	for n := 1; n <= d.run; n++ {
		id := fmt.Sprintf("q%d", n)
		if got := seen[id]; !d.shaken[id] && got != "input_admitted run_started input_committed run_finished " {
			d.t.Errorf("lifecycle of %s: %s", id, got)
		}
	}
}
