package conformance

import (
	"fmt"
	"testing"

	"simplex/hub/fakehub"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// pushing is how many exchanges of half a MiB a run makes while nobody reads: more than
// the kernel's buffers, one frame in the transport and four slots of the outbox hold.
const pushing = 20

func TestPressure(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"7", "a reader that stopped: shedding, counts, order, drain before the next run", stoppedReader},
		{"7", "undequeued events survive a reconnect, nothing comes twice", survives},
	})
}

// choked is a worker whose Hub stopped reading right after input_committed, and whose run
// has told of all its exchanges but the last one, which waits for finish.
func choked(t *testing.T) (r *rig.Rig, p *rig.Program, v *rig.Valve, finish func()) {
	t.Helper()
	first, last := make(chan struct{}), make(chan struct{})
	r = rig.New(t)
	r.Binary = rig.Plain // 10 MB of conversation, sent 20 times
	answer := bulk(500 << 10)
	r.Model.Answer = func(n int, _ string) rig.Reply {
		switch n {
		case pushing + 1:
			return rig.Reply{Text: "last", Gate: last}
		case pushing + 2:
			return rig.Reply{Text: "after"}
		}
		reply := rig.Reply{Text: answer, Calls: []rig.Call{{ID: fmt.Sprintf("c%d", n), Name: "no_such_tool", Arguments: "{}"}}}
		if n == 1 {
			reply.Gate = first
		}
		return reply
	}
	r.Worker, r.Transport = "event_capacity: 4", "initial_backoff_ms: 20, max_backoff_ms: 100, write_capacity: 1"
	v = r.Through()
	p = r.Online()
	r.Payload(rig.Approved("q1", "x"))
	r.Until("input_committed")
	v.Freeze()
	close(first)
	r.Model.Request(t, pushing+1) // the run goes on although nobody listens
	return r, p, v, func() { close(last) }
}

func stoppedReader(t *testing.T) {
	r, p, v, finish := choked(t)
	r.Signal(rig.Op("options")) // queued behind the first `persisted`
	const asked = 10
	for i := range asked {
		r.Payload(rig.Op("history", "request_id", fmt.Sprintf("p%d", i)))
	}
	r.Payload(rig.Message("q2", "y")) // waits for the backlog to drain
	finish()
	awaitState(t, r, func(st *state.State) bool { return st.Loop.Status == state.StatusCompleted })
	if n := len(r.Model.Requests()); n != pushing+1 {
		t.Errorf("%d requests: a run began before the backlog drained", n)
	}
	v.Thaw()
	first, second := r.Until("run_finished"), r.Until("run_finished")
	inLifecycle(t, second, begin...)
	events := append(append([]fakehub.Event(nil), first...), second...)
	got := make(map[string]int)
	for _, e := range events {
		got[e.Name]++
	}
	one, two := first[len(first)-1], second[len(second)-1]
	omitted := func(name string) int { return number(r, one, name) + number(r, two, name) }
	if n := omitted("omitted_query_events"); got["history"]+n != asked || n == 0 {
		t.Errorf("%d pages came, %d are told to be left out, %d were asked for", got["history"], n, asked)
	}
	previews := got["model_response"] + got["tool_calls"] + got["tool_results"]
	if n := omitted("omitted_display_events"); previews+n != 3*pushing+2 || n < 3 {
		t.Errorf("%d previews came, %d are told to be left out", previews, n)
	}
	if n := omitted("coalesced_metadata_events"); got["persisted"]+n != 3*pushing+2 || n < 3 {
		t.Errorf("%d saves were told, %d are told to be joined", got["persisted"], n)
	}
	// The newest save stands where the first one that waited stood.
	if saved, options := at(first, "persisted(run_finished)"), at(first, "options"); saved < 0 || options < 0 || saved > options {
		t.Errorf("persisted(run_finished) at %d, options at %d", saved, options)
	}
	continuous(t, r.Hub.Events()) // what was left out never had a sequence
	p.Stop()
}

func at(events []fakehub.Event, label string) int {
	for i, e := range events {
		if rig.Label(e) == label {
			return i
		}
	}
	return -1
}

func number(r *rig.Rig, e fakehub.Event, name string) int {
	if e.Value(name) == nil {
		return 0
	}
	return int(r.Number(e, name))
}

// inLifecycle checks that the lifecycle events of a run are these and run_finished.
func inLifecycle(t *testing.T, events []fakehub.Event, want ...string) {
	t.Helper()
	var got []fakehub.Event
	for _, e := range events {
		switch e.Name {
		case "input_admitted", "run_started", "input_committed", "run_finished":
			got = append(got, e)
		}
	}
	inOrder(t, got, concat(want, []string{"run_finished"})...)
}

func survives(t *testing.T) {
	r, p, v, finish := choked(t)
	finish()
	awaitState(t, r, func(st *state.State) bool { return st.Loop.Status == state.StatusCompleted })
	v.Cut() // with a send in flight
	v.Thaw()
	inLifecycle(t, r.Until("run_finished"))
	r.Payload(rig.Message("q2", "y"))
	r.Completes()
	var last uint64
	lost := uint64(0)
	for _, e := range r.Hub.Events() {
		if e.Sequence <= last {
			t.Fatalf("event %d after %d", e.Sequence, last)
		}
		lost += e.Sequence - last - 1
		last = e.Sequence
	}
	t.Logf("%d events were lost in the sockets", lost)
	p.Stop()
}
