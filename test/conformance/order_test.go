package conformance

import (
	"slices"
	"testing"

	"simplex/hub/fakehub"
	"simplex/test/conformance/rig"
)

// follow is what a tool exchange tells after its model_response.
var follow = []string{"tool_calls", "persisted(before_tools)", "persisted(results_ready)", "tool_results", "persisted(step_finished)"}

// begin and end are what every message's run starts and ends with.
var (
	begin = []string{"input_admitted", "run_started", "input_committed"}
	end   = []string{"model_response", "persisted(run_finished)", "run_finished"}
)

// inOrder compares the labels of events, apart from `status` and `model_delta`.
func inOrder(t *testing.T, events []fakehub.Event, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(rig.Labels(events), func(l string) bool { return l == "status" || l == "model_delta" })
	if !slices.Equal(got, want) {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
}

// continuous checks sequences from 1 without a gap, and one worker_id.
func continuous(t *testing.T, events []fakehub.Event) {
	t.Helper()
	for i, e := range events {
		if e.Sequence != uint64(i)+1 || e.WorkerID != events[0].WorkerID || e.SessionID != "s1" {
			t.Fatalf("event %d: %.300s", i+1, e.Raw)
		}
	}
}

func concat(parts ...[]string) []string { return slices.Concat(parts...) }
