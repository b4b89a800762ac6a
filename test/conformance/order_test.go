package conformance

import (
	"slices"
	"strings"
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

// inOrder compares the labels of events, apart from `status` and `model_delta`, and gives
// the events that stand for them. On a slow machine a `persisted` that still waits is
// replaced in place by the next one (wire.md §7), which then stands for both.
func inOrder(t *testing.T, events []fakehub.Event, want ...string) []fakehub.Event {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(events), func(e fakehub.Event) bool { return e.Name == "status" || e.Name == "model_delta" })
	told := map[string]fakehub.Event{} // ahead of their place
	out := make([]fakehub.Event, 0, len(want))
	for i, label := range want {
		if e, early := told[label]; early {
			out = append(out, e)
			delete(told, label)
			continue
		}
		if len(rest) == 0 || rig.Label(rest[0]) != label && !replaces(rest[0], label, want[i+1:]) {
			t.Fatalf("events\n%q, want\n%q", rig.Labels(events), want)
		}
		if rig.Label(rest[0]) != label {
			told[rig.Label(rest[0])] = rest[0]
		}
		out = append(out, rest[0])
		rest = rest[1:]
	}
	if len(rest) > 0 {
		t.Fatalf("events\n%q, want\n%q", rig.Labels(events), want)
	}
	return out
}

// replaces tells whether e is a later `persisted` in the place of an earlier one.
func replaces(e fakehub.Event, label string, later []string) bool {
	return e.Name == "persisted" && strings.HasPrefix(label, "persisted(") && slices.Contains(later, rig.Label(e))
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
