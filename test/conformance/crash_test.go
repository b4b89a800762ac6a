package conformance

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"simplex/hub/fakehub"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// rounds is how many tool exchanges the scripted run has.
const rounds = 20

// laborer asks for rounds commands, each of which leaves its own line, and then answers.
func laborer(_ int, body string) rig.Reply {
	done := strings.Count(body, `"role":"tool"`)
	if done >= rounds {
		return rig.Reply{Text: "Done."}
	}
	return rig.Reply{Calls: []rig.Call{rig.Shell(fmt.Sprintf("c%d", done), fmt.Sprintf("echo line%d >>effects", done))}}
}

// TestKilledAtEveryBoundary kills the worker with SIGKILL as soon as the Hub has its n-th
// event of a run of 20 tool exchanges, for every n and both formats of the state.
func TestKilledAtEveryBoundary(t *testing.T) {
	t.Parallel()
	count("11")
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			killedEverywhere(t, format)
		})
	}
}

func killedEverywhere(t *testing.T, format string) {
	all := len(begin) + rounds*len(exchange()) + len(end)
	points := make(chan int, all)
	t.Run("points", func(t *testing.T) {
		stride := 1
		if rig.Race && os.Getenv("SIMPLEX_SOAK") == "" {
			stride = 5 // still each kind of boundary, as an exchange has six
		}
		for worker := range 4 {
			t.Run(strconv.Itoa(worker), func(t *testing.T) {
				t.Parallel()
				for n := 1 + worker*stride; n <= all; n += 4 * stride {
					killedAt(t, format, n)
					points <- n
				}
			})
		}
	})
	t.Logf("%s: killed at %d points of %d", format, len(points), all)
}

func killedAt(t *testing.T, format string, n int) {
	r := rig.New(t)
	r.Persistence = "format: " + format
	r.Binary = rig.Plain // for 126 runs of 20 exchanges
	restarted := new(atomic.Bool)
	r.Model.Answer = func(n int, body string) rig.Reply {
		if restarted.Load() {
			return rig.Reply{Text: "Done."}
		}
		return laborer(n, body)
	}
	p := r.Online()
	r.Payload(rig.Approved("q1", "work"))
	var seen []fakehub.Event
	for len(seen) < n {
		e := r.Next()
		seen = append(seen, e)
		if e.Name == "run_finished" {
			break
		}
	}
	p.Kill()
	at := fmt.Sprintf("after event %d (%s)", n, rig.Label(seen[len(seen)-1]))
	st := stored(t, r, format) // checks the structure
	announced(t, at, st, append(seen, r.Hub.Rest()...))
	ran := r.Effects()
	restarted.Store(true)
	p = r.Online()
	r.Payload(rig.Approved("q2", "go on"))
	refused := st != nil && (st.Loop.Phase == state.PhaseTools || st.Loop.Phase == state.PhaseBlocked)
	for {
		e := r.Next()
		if e.RequestID != "q2" || e.Name != "input_rejected" && e.Name != "run_finished" {
			continue
		}
		if got := e.Name == "input_rejected"; got != refused || !got && e.Field("status") != "completed" {
			t.Errorf("%s: phase on disk %s, then %s", at, st.Loop.Phase, e.Raw)
		}
		break
	}
	p.Stop()
	after := r.Effects()
	if len(after) < len(ran) || len(after) > len(ran)+1 { // one may have been under way
		t.Errorf("%s: effects %v, then %v", at, ran, after)
	}
	for i, line := range after {
		if line != fmt.Sprintf("line%d", i) {
			t.Errorf("%s: a tool ran twice, or not in its turn: %v", at, after)
			break
		}
	}
}

// announced checks that what the Hub was told of is on disk.
func announced(t *testing.T, at string, st *state.State, events []fakehub.Event) {
	t.Helper()
	var saved, results int
	for _, e := range events {
		switch rig.Label(e) {
		case "persisted(before_tools)":
			saved++
		case "tool_results":
			results++
		case "run_finished":
			if st == nil || st.Loop.Status != state.StatusCompleted {
				t.Errorf("%s: run_finished was told and is not on disk", at)
			}
		}
	}
	var steps, answered int
	if st != nil && len(st.Turns) > 0 {
		steps = len(st.Turns[0].Steps)
		for _, s := range st.Turns[0].Steps {
			answered += len(s.Returns)
		}
		answered += len(st.Loop.Pending)
	}
	if steps < saved || answered < results {
		t.Errorf("%s: %d calls and %d results were told, %d and %d are on disk", at, saved, results, steps, answered)
	}
}
