package conformance

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"simplex/test/conformance/rig"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"4", "bad signals are answered by error", func(t *testing.T) {
			r := rig.New(t)
			p := r.Online()
			for _, bad := range []object{
				{"operation": "dance"},
				{},
				{"operation": 1},
				{"operation": nil},
				{"operation": "cancel"},
				{"operation": "cancel", "run_id": 1},
				{"operation": "cancel", "run_id": ""},
				{"operation": "stream"},
				{"operation": "stream", "enabled": "yes"},
				{"operation": "message"},
			} {
				r.Signal(bad)
				if e := r.Expect("error"); e.Field("message") == "" || e.Value("durable") != nil {
					t.Errorf("%v: %s", bad, e.Data)
				}
			}
			p.Stop()
		}},
		{"4", "shutdown stops in order without a word", func(t *testing.T) {
			r := rig.New(t)
			p := r.Online()
			r.Signal(rig.Op("shutdown"))
			p.Exits(0)
			if err := r.Hub.Disconnected(rig.Deadline(t)); err != nil {
				t.Fatal(err)
			}
			for _, e := range r.Hub.Rest() {
				if rig.Label(e) != "persisted(shutdown)" {
					t.Errorf("%s", e.Raw)
				}
			}
		}},
		{"4", "status and options are answered during a run", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Hang: true})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Model.Request(t, 1)
			admitted := r.Until("input_committed")
			e := r.Status()
			if string(e.Value("active")) != "true" || e.Field("loop", "phase") != "model" || e.RunID != admitted[0].RunID {
				t.Errorf("%s", e.Raw)
			}
			r.Signal(rig.Op("options"))
			r.Expect("options")
			p.Stop()
		}},
		{"4", "cancel stops the run it names and no other", cancelNames},
		{"4", "cancel overtakes the signals that wait", cancelOvertakes},
		{"7", "a full signal queue is fatal", func(t *testing.T) {
			r := rig.New(t)
			r.Client = "signal_capacity: 1"
			p := r.Online()
			p.Signal(syscall.SIGSTOP) // until the signals are there at once
			for range 4000 {
				if r.Hub.Signal(rig.Op("status")) != nil {
					break // the worker's socket is full
				}
			}
			p.Signal(syscall.SIGCONT)
			p.Exits(1)
			if !strings.Contains(p.Stderr.String(), "signal") {
				t.Errorf("stderr: %s", p.Stderr)
			}
		}},
		{"5", "the status object has all its members", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			r.Worker = "auto_compact_threshold: 100000"
			p := r.Online()
			ready := r.Hub.Events()[0]
			r.Payload(rig.Message("q1", "x"))
			r.Completes()
			status := r.Status()
			for _, path := range [][]string{
				{"active"},
				{"stopping"},
				{"storage_failed"},
				{"rejected_payloads"},
				{"rejected_queries"},
				{"unreported_rejections"},
				{"event_queue", "count"},
				{"event_queue", "bytes"},
				{"event_queue", "transport_bytes"},
				{"memory_retention", "max_archives"},
				{"capabilities"},
				{"loop", "status"},
				{"loop", "phase"},
				{"loop", "completed_exchanges"},
				{"loop", "committed_response_sequence"},
				{"loop", "error"},
			} {
				if ready.Value(path...) == nil || status.Value(path...) == nil {
					t.Errorf("no %v", path)
				}
			}
			if r.Number(status, "auto_compact", "threshold") != 100000 || r.Number(status, "auto_compact", "limit") != 5 {
				t.Errorf("%s", status.Data)
			}
			for _, want := range []string{"session-history", "context-compact", "auto-compact", "answer-pages", "model-stream"} {
				if !strings.Contains(string(status.Value("capabilities")), `"`+want+`"`) {
					t.Errorf("no capability %s", want)
				}
			}
			p.Stop()
		}},
	})
}

func cancelNames(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "ok"}, rig.Reply{Hang: true}, rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	earlier := r.Completes().RunID
	r.Payload(rig.Message("q2", "x"))
	r.Model.Request(t, 2)
	current := r.Until("input_committed")[0].RunID
	for _, stale := range []string{earlier, "q2", strings.ToUpper(current) + "x"} {
		r.Signal(rig.Op("cancel", "run_id", stale))
		if e := r.Expect("status"); string(e.Value("active")) != "true" {
			t.Errorf("cancel of %q: %s", stale, e.Data)
		}
	}
	r.Signal(rig.Op("cancel", "run_id", current))
	r.Signal(rig.Op("options"))
	events := r.Until("options")
	for !slices.Contains(rig.Labels(events), "run_finished") {
		events = append(events, r.Next())
	}
	var names []string
	for _, e := range events {
		names = append(names, e.Name)
		if e.Name == "run_finished" && (e.Field("status") != "cancelled" || e.Value("failure") != nil || string(e.Value("durable")) != "true") {
			t.Errorf("%s", e.Data)
		}
	}
	if !strings.Contains(strings.Join(names, " "), "status") {
		t.Errorf("no status after cancel: %v", names)
	}
	r.Payload(rig.Message("q3", "x"))
	r.Completes()
	p.Stop()
	if st := r.State(); len(st.Turns) != 3 || len(st.Turns[1].Steps) != 0 {
		t.Errorf("%d turns", len(st.Turns))
	}
}

// cancelOvertakes sends so many signals before the cancel that a worker which took them in
// turn would still be at it; the run ends without waiting for them.
func cancelOvertakes(t *testing.T) {
	r := rig.New(t, rig.Reply{Calls: []rig.Call{rig.Shell("c1", "echo one >>effects"), rig.Shell("c2", "echo two >>effects")}})
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	c := r.Asked()
	run := r.Until("persisted")[0].RunID
	p.Signal(syscall.SIGSTOP)
	for range 50 {
		r.Signal(rig.Op("status"))
	}
	r.Signal(rig.Op("cancel", "run_id", run))
	p.Signal(syscall.SIGCONT)
	e := r.Finished()
	_ = c.Approve() // too late, or in vain
	if e.Field("status") != "cancelled" || len(r.Effects()) > 0 {
		t.Errorf("%s, effects %v", e.Data, r.Effects())
	}
	p.Stop()
	if st := r.State(); st.Loop.Phase != "ready" || len(st.Turns[0].Steps[0].Returns) != 2 {
		t.Error("the batch did not drain to records")
	}
}
