package manager

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"simplex/internal/durable"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// modelled is what an allocation is, told by requests alone.
type modelled struct {
	status    record.Status
	revision  uint64
	url       string // the client override; "" for none
	lifecycle string
	captured  uint64 // revision of the capture; 0 for none
	content   string // url at the capture
	origin    protocol.Source
}

// world is the model of three allocations side by side.
type world struct {
	p   *place
	all map[string]*modelled
}

// Random requests against a model in memory. A request may be killed anywhere; then it
// is repeated, which must end as the model says.
func TestModel(t *testing.T) {
	t.Parallel()
	n := 0
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		root := fmt.Sprintf("%s/%d", base, n)
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		w := &world{&place{m: New(Config{}), root: root}, map[string]*modelled{"a": {}, "b": {}, "c": {}}}
		t.Repeat(map[string]func(*rapid.T){
			"prepare": w.prepare, "refresh": w.refresh, "capture": w.capture, "fork": w.fork,
			"remove": w.remove, "": w.check,
		})
	})
}

func (w *world) pick(t *rapid.T) (string, *modelled) {
	id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
	return id, w.all[id]
}

// send kills the request before a random call or lets it through, repeats it until it is
// answered, and compares the answer.
func (w *world) send(t *rapid.T, req *protocol.Request, want protocol.Code) {
	if kill := rapid.IntRange(0, 160).Draw(t, "dead after"); kill > 0 {
		dead := &fault{n: kill, err: unix.EIO, sticky: true}
		_, _ = answerOf(New(Config{Hook: func(label string, op durable.Op) error {
			if dead.seen++; dead.seen >= dead.n {
				return dead.err
			}
			return nil
		}}), req)
	}
	_, failure := answerOf(w.p.m, req)
	got := protocol.Code("")
	if failure != nil {
		got = failure.Code
	}
	if got != want {
		t.Fatalf("%s %s: %v, want %q", req.Operation, req.AllocationID, failure, want)
	}
}

// absentOr gives the code of an operation that needs a ready allocation.
func (m *modelled) absentOr() protocol.Code {
	switch m.status {
	case record.Absent:
		return protocol.NotFound
	case record.Retired:
		return protocol.Retired
	}
	return ""
}

func (w *world) prepare(t *rapid.T) {
	id, m := w.pick(t)
	want := protocol.Code("")
	switch {
	case m.status == record.Retired:
		want = protocol.Retired
	case m.origin.AllocationID != "":
		want = protocol.Conflict // a fork's source is another text
	case m.status == record.Absent:
		m.status, m.revision = record.Ready, 1
	}
	w.send(t, w.p.prepareRequest(id), want)
}

func (w *world) refresh(t *rapid.T) {
	id, m := w.pick(t)
	url := rapid.SampledFrom([]string{"ws://one/", "ws://two/"}).Draw(t, "url")
	expected := uint64(rapid.IntRange(0, 3).Draw(t, "expected"))
	want := m.absentOr()
	if want == "" && url != m.url {
		switch {
		case expected == 0 && m.url != "", expected != 0 && expected != m.revision:
			want = protocol.RevisionMismatch
		default:
			m.url, m.revision = url, m.revision+1
		}
	}
	w.send(t, w.p.refreshRequest(id, url, expected), want)
}

func (w *world) capture(t *rapid.T) {
	id, m := w.pick(t)
	lifecycle := rapid.SampledFrom([]string{"l1", "l2"}).Draw(t, "lifecycle")
	revision := uint64(rapid.IntRange(1, 3).Draw(t, "revision"))
	want := m.absentOr()
	switch {
	case want != "":
	case revision != m.revision:
		want = protocol.RevisionMismatch
	case m.captured != 0 && m.lifecycle == lifecycle && m.content != m.url:
		want = protocol.LifecycleConflict
	case m.captured == 0 || m.lifecycle != lifecycle:
		m.lifecycle, m.captured, m.content = lifecycle, m.revision, m.url
	}
	w.send(t, w.p.captureRequest(id, lifecycle, revision), want)
}

func (w *world) fork(t *rapid.T) {
	id, m := w.pick(t)
	parent := rapid.SampledFrom([]string{"a", "b", "c"}).Filter(func(s string) bool { return s != id }).Draw(t, "parent")
	lifecycle := rapid.SampledFrom([]string{"l1", "l2"}).Draw(t, "lifecycle")
	revision := uint64(rapid.IntRange(1, 3).Draw(t, "revision"))
	req := w.p.forkRequest(id, parent, lifecycle, revision)
	from := w.all[parent]
	want := protocol.Code("")
	switch {
	case m.status == record.Retired:
		want = protocol.Retired
	case m.status == record.Ready && m.origin != *req.Source:
		want = protocol.Conflict
	case m.status == record.Ready:
	case from.absentOr() != "":
		want = from.absentOr()
	case from.captured == 0 || from.lifecycle != lifecycle:
		want = protocol.LifecycleConflict
	case from.captured != revision:
		want = protocol.RevisionMismatch
	default:
		m.status, m.revision, m.origin = record.Ready, 1, *req.Source
	}
	w.send(t, req, want)
}

func (w *world) remove(t *rapid.T) {
	id, m := w.pick(t)
	want := protocol.Code("")
	if m.status == record.Absent {
		want = protocol.NotFound
	} else {
		m.status = record.Retired
	}
	w.send(t, w.p.request(protocol.Remove, id), want)
}

// check compares what inspect tells.
func (w *world) check(t *rapid.T) {
	for id, m := range w.all {
		raw, failure := answerOf(w.p.m, w.p.request(protocol.Inspect, id))
		if m.status == record.Absent {
			if failure == nil || failure.Code != protocol.NotFound {
				t.Fatalf("%s: %s, %v; it was never made", id, raw, failure)
			}
			continue
		}
		if failure != nil {
			t.Fatalf("%s: %v", id, failure)
		}
		got := inspected(t, raw)
		if got.Status != m.status {
			t.Fatalf("%s is %s, want %s", id, got.Status, m.status)
		}
		if m.status == record.Ready && (got.Revision != m.revision || got.Overrides.Client != m.url || got.Startup.Revision != m.captured) {
			t.Fatalf("%s is %+v, want %+v", id, got, m)
		}
	}
}
