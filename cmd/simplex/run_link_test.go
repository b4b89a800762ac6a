package main

import (
	"testing"

	"simplex/llm/offline"
)

func TestEventsOutliveTheConnection(t *testing.T) { // BR-036
	t.Parallel()
	for name, cut := range map[string]func(r *rig, p *program){
		"hub goes away": func(r *rig, p *program) {
			r.hub.Down()
			p.says("hub connection failed") // from here on the worker knows
		},
		"link is cut": func(r *rig, p *program) {
			r.hub.Drop()
			if err := r.hub.Connected(deadline(r.t), 2); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), calls(shell("c2", "echo two >>effects", 20000)),
				offline.Reply{Text: "Done."})
			first, last := r.model.hold(1), r.model.hold(3)
			p := r.online()
			r.payload(message("q1", "work", mode("approve")))
			r.until("input_committed")
			r.model.request(t, 1)
			cut(r, p)
			first()
			r.model.request(t, 3) // two rounds of tools went by, whoever listens
			if name == "hub goes away" {
				if err := r.hub.Up(); err != nil {
					t.Fatal(err)
				}
			}
			last()
			events := r.until("run_finished")
			inOrder(t, events,
				"model_response", "tool_calls", "persisted(before_tools)", "persisted(results_ready)", "tool_results", "persisted(step_finished)",
				"model_response", "tool_calls", "persisted(before_tools)", "persisted(results_ready)", "tool_results", "persisted(step_finished)",
				"model_response", "persisted(run_finished)", "run_finished")
			continuous(t, r.hub.Events())
			worker := r.hub.Events()[0].WorkerID
			for _, e := range events {
				if e.WorkerID != worker {
					t.Errorf("another worker_id after the reconnect: %s", e.Raw)
				}
			}
			r.signal(object{"operation": "status"})
			r.expect("status")
			if got := r.effects(); len(got) != 2 {
				t.Errorf("effects %v", got)
			}
			p.signal(terminate)
			p.exits(0)
		})
	}
}
