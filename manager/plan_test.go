package manager

import (
	"slices"
	"testing"

	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

const planDirectory = "/p/a"

// recordIn is a record of each status, with a capture by the lifecycle "life".
func recordIn(st record.Status) *record.Record {
	r := &record.Record{
		Version: 1, AllocationID: "a", Directory: planDirectory, Status: st, Nonce: "n", Revision: 1,
		Source: new(source), Overrides: &protocol.Refresh{ClientEndpoint: new("ws://old/")},
	}
	switch st {
	case record.Absent:
		return nil
	case record.Ready:
		if err := configuration.Derive(r); err != nil {
			panic(err)
		}
		r.Root = &record.RootID{Dev: 1, Ino: 2, Born: 3}
		r.Startup = &record.Startup{LifecycleID: "life", Revision: 1, Effective: r.Derived.Effective}
	case record.Removing:
		return r.Removing()
	case record.Retired:
		return r.Retired()
	}
	return r
}

func planRequest(op protocol.Operation) *protocol.Request {
	req := &protocol.Request{RequestID: "r", Operation: op, AllocationID: "a", Directory: planDirectory}
	switch op {
	case protocol.Prepare:
		req.Configuration = new(source)
	case protocol.CaptureStartup:
		req.LifecycleID, req.ExpectedRevision = new("next"), new(uint64(1))
	case protocol.CleanFork:
		req.Source = &protocol.Source{AllocationID: "p", Directory: "/p/p", LifecycleID: "l", Revision: 1}
	}
	return req
}

func refreshRequest() *protocol.Request {
	req := planRequest(protocol.Prepare)
	req.Configuration = nil
	req.Refresh, req.ExpectedRevision = &protocol.Refresh{ClientEndpoint: new("ws://new/")}, new(uint64(1))
	return req
}

// TestEveryPair is the whole status machine: status × operation.
func TestEveryPair(t *testing.T) {
	t.Parallel()
	statuses := []record.Status{record.Absent, record.Preparing, record.Ready, record.Removing, record.Retired}
	operations := []struct {
		name    string
		request *protocol.Request
		want    [5]string // per status: a code, or the steps
	}{
		{"prepare", planRequest(protocol.Prepare), [5]string{
			"preparing build place ready", "build place ready", "confirm", "not_ready", "retired",
		}},
		{"refresh", refreshRequest(), [5]string{"not_found", "not_ready", "change", "not_ready", "retired"}},
		{"inspect", planRequest(protocol.Inspect), [5]string{"not_found", "", "", "", ""}},
		{"capture_startup", planRequest(protocol.CaptureStartup), [5]string{"not_found", "not_ready", "change", "not_ready", "retired"}},
		{"clean_fork", planRequest(protocol.CleanFork), [5]string{
			"preparing build place ready", "conflict", "conflict", "conflict", "retired",
		}},
		{"read_state", planRequest(protocol.ReadState), [5]string{"not_found", "not_ready", "", "not_ready", "retired"}},
		{"remove", planRequest(protocol.Remove), [5]string{
			"not_found", "removing delete retire", "removing trash delete retire", "delete retire", "confirm",
		}},
	}
	pairs := 0
	for _, op := range operations {
		for i, st := range statuses {
			now := situation{rec: recordIn(st), nonce: "n", fork: "{}"}
			if st == record.Ready {
				now.root = rootOurs
			}
			if got := outcome(decide(op.request, now)); got != op.want[i] {
				t.Errorf("%s on %q: %q, want %q", op.name, st, got, op.want[i])
			}
			pairs++
		}
	}
	if pairs != 35 {
		t.Errorf("%d pairs", pairs)
	}
}

func outcome(p plan, err error) string {
	if err != nil {
		return string(causeCode(err))
	}
	words := map[string]string{
		stepPreparing: "preparing", stepStage: "build", stepPlace: "place", stepReady: "ready", stepChange: "change",
		stepRemoving: "removing", stepTrash: "trash", stepDelete: "delete", stepRetired: "retire", stepConfirm: "confirm",
	}
	out := ""
	for i, st := range p.steps {
		if i > 0 {
			out += " "
		}
		out += words[st.label]
	}
	return out
}

// TestDecisions is what depends on more than the status.
func TestDecisions(t *testing.T) {
	t.Parallel()
	forked := recordIn(record.Ready)
	forked.ForkOrigin, forked.ForkRefresh = planRequest(protocol.CleanFork).Source, &protocol.Refresh{ToolsEndpoint: new("ws://t/")}
	half := recordIn(record.Preparing)
	with := func(req *protocol.Request, change func(*protocol.Request)) *protocol.Request {
		change(req)
		return req
	}
	plain := recordIn(record.Ready)
	plain.Overrides, plain.Derived = nil, nil
	for _, c := range []struct {
		name string
		req  *protocol.Request
		now  situation
		want string
	}{
		{"a foreign root", planRequest(protocol.Prepare), situation{root: rootForeign}, "unmanaged_directory"},
		{"fork onto a foreign root", planRequest(protocol.CleanFork), situation{root: rootForeign, fork: "{}"}, "unmanaged_directory"},
		{"killed after the root was in place", planRequest(protocol.Prepare), situation{rec: half, root: rootOurs}, "ready"},
		{"a foreign root came while preparing", planRequest(protocol.Prepare), situation{rec: half, root: rootForeign}, "unmanaged_directory"},
		{"remove with a foreign root", planRequest(protocol.Remove), situation{rec: recordIn(record.Ready), root: rootForeign}, "ownership_mismatch"},
		{"remove when the root is gone", planRequest(protocol.Remove), situation{rec: recordIn(record.Ready)}, "removing delete retire"},
		{"remove goes on beside a foreign root", planRequest(protocol.Remove), situation{rec: recordIn(record.Removing), root: rootForeign}, "delete retire"},
		{"remove goes on with the root", planRequest(protocol.Remove), situation{rec: recordIn(record.Removing), root: rootOurs}, "trash delete retire"},
		{"another source", with(planRequest(protocol.Prepare), func(r *protocol.Request) { r.Configuration = new("a: 1") }), situation{rec: recordIn(record.Ready)}, "conflict"},
		{"another source while preparing", with(planRequest(protocol.Prepare), func(r *protocol.Request) { r.Configuration = new("a: 1") }), situation{rec: half}, "conflict"},
		{"another refresh while preparing", with(planRequest(protocol.Prepare), func(r *protocol.Request) { r.Refresh = &protocol.Refresh{} }), situation{rec: half}, "not_ready"},
		{"the same refresh, stale revision", with(refreshRequest(), func(r *protocol.Request) {
			r.Refresh, r.ExpectedRevision = &protocol.Refresh{ClientEndpoint: new("ws://old/")}, new(uint64(9))
		}), situation{rec: recordIn(record.Ready), root: rootOurs}, "confirm"},
		{"stale revision", with(refreshRequest(), func(r *protocol.Request) { r.ExpectedRevision = new(uint64(2)) }), situation{rec: recordIn(record.Ready), root: rootOurs}, "revision_mismatch"},
		{"no revision, overrides there", with(refreshRequest(), func(r *protocol.Request) { r.ExpectedRevision = nil }), situation{rec: recordIn(record.Ready), root: rootOurs}, "revision_mismatch"},
		{"no revision, no overrides", with(refreshRequest(), func(r *protocol.Request) { r.ExpectedRevision = nil }), situation{rec: plain, root: rootOurs}, "change"},
		{"stale revision, no overrides", with(refreshRequest(), func(r *protocol.Request) { r.ExpectedRevision = new(uint64(7)) }), situation{rec: plain, root: rootOurs}, "revision_mismatch"},
		{"clearing the set", with(refreshRequest(), func(r *protocol.Request) { r.Refresh = &protocol.Refresh{} }), situation{rec: recordIn(record.Ready), root: rootOurs}, "change"},
		{"same configuration, new refresh", with(refreshRequest(), func(r *protocol.Request) { r.Configuration = new(source) }), situation{rec: recordIn(record.Ready), root: rootOurs}, "change"},
		{"capture, stale", with(planRequest(protocol.CaptureStartup), func(r *protocol.Request) { r.ExpectedRevision = new(uint64(2)) }), situation{rec: recordIn(record.Ready), root: rootOurs}, "revision_mismatch"},
		{"capture again", with(planRequest(protocol.CaptureStartup), func(r *protocol.Request) { r.LifecycleID = new("life") }), situation{rec: recordIn(record.Ready), root: rootOurs}, "confirm"},
		{"capture, changed meanwhile", with(planRequest(protocol.CaptureStartup), func(r *protocol.Request) { r.LifecycleID = new("life") }), situation{rec: plain, root: rootOurs}, "lifecycle_conflict"},
		{"fork again", planRequest(protocol.CleanFork), situation{rec: forked, root: rootOurs}, "confirm"},
		{"fork again, as it was asked for", with(planRequest(protocol.CleanFork), func(r *protocol.Request) { r.Refresh = forked.ForkRefresh }), situation{rec: forked, root: rootOurs}, "confirm"},
		{"fork again, as it now is", with(planRequest(protocol.CleanFork), func(r *protocol.Request) { r.Refresh = forked.Overrides }), situation{rec: forked, root: rootOurs}, "confirm"},
		{"fork again, another refresh", with(planRequest(protocol.CleanFork), func(r *protocol.Request) { r.Refresh = &protocol.Refresh{} }), situation{rec: forked, root: rootOurs}, "conflict"},
		{"refresh of a lost root", refreshRequest(), situation{rec: recordIn(record.Ready)}, "ownership_mismatch"},
		{"prepare beside a foreign root", planRequest(protocol.Prepare), situation{rec: recordIn(record.Ready), root: rootForeign}, "ownership_mismatch"},
		{"capture of a lost root", planRequest(protocol.CaptureStartup), situation{rec: recordIn(record.Ready)}, "ownership_mismatch"},
		{"prepare again, the root is lost", planRequest(protocol.Prepare), situation{rec: recordIn(record.Ready)}, "confirm"},
		{"fork again, the root is lost", planRequest(protocol.CleanFork), situation{rec: forked}, "confirm"},
		{"fork again beside a foreign root", planRequest(protocol.CleanFork), situation{rec: forked, root: rootForeign}, "ownership_mismatch"},
		{"fork from elsewhere", with(planRequest(protocol.CleanFork), func(r *protocol.Request) { r.Source.Revision = 2 }), situation{rec: forked, root: rootOurs}, "conflict"},
	} {
		if got := outcome(decide(c.req, c.now)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// No other edge of the status machine exists.
func TestStatusesFollowOneOrder(t *testing.T) {
	t.Parallel()
	allowed := map[record.Status][]record.Status{
		record.Absent:    {record.Preparing},
		record.Preparing: {record.Ready, record.Removing},
		record.Ready:     {record.Ready, record.Removing},
		record.Removing:  {record.Retired},
	}
	for _, st := range []record.Status{record.Absent, record.Preparing, record.Ready, record.Removing, record.Retired} {
		for _, root := range []presence{rootAbsent, rootOurs, rootForeign} {
			for _, req := range []*protocol.Request{
				planRequest(protocol.Prepare), refreshRequest(), planRequest(protocol.CaptureStartup),
				planRequest(protocol.CleanFork), planRequest(protocol.Remove),
			} {
				p, _ := decide(req, situation{rec: recordIn(st), root: root, nonce: "n", fork: "{}"})
				at := st
				for _, s := range p.steps {
					if s.record == nil {
						continue
					}
					if !slices.Contains(allowed[at], s.record.Status) {
						t.Errorf("%s on %q: from %q to %q", req.Operation, st, at, s.record.Status)
					}
					at = s.record.Status
				}
			}
		}
	}
}
