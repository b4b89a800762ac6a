//go:build crash

package crashworker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/hub/fakehub"
	"simplex/persistence/sqlitestore"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// labored are the tool exchanges of the real worker's run.
const labored = 4

// told is what the Hub knows to be saved.
type told struct {
	calls, results int
	finished       bool
}

func (k *told) take(events []fakehub.Event) {
	for _, e := range events {
		switch rig.Label(e) {
		case "persisted(before_tools)":
			k.calls++
		case "tool_results":
			k.results++
		case "run_finished":
			k.finished = string(e.Value("durable")) == "true"
		}
	}
}

// lost names what was told and is not in st.
func (k *told) lost(st *state.State) string {
	var calls, results int
	if st != nil {
		for _, turn := range st.Turns {
			for _, s := range turn.Steps {
				results += len(s.Returns)
				if s.ModelResponse != nil && len(s.ModelResponse.Calls) > 0 {
					calls++
				}
			}
		}
		results += len(st.Loop.Pending)
	}
	switch {
	case calls < k.calls || results < k.results:
		return fmt.Sprintf("%d calls and %d results were told, %d and %d are there", k.calls, k.results, calls, results)
	case k.finished && (st == nil || st.Loop.Status != state.StatusCompleted):
		return "the run's end was told and is not there"
	}
	return ""
}

// stored reads the state below root as an inspector does; nil: nothing was saved.
func stored(format, root string) (*state.State, error) {
	path := filepath.Join(root, "state", "state.json")
	var raw bytes.Buffer
	if format == "sqlite" {
		path = filepath.Join(root, "state", sqlitestore.StateFile)
		_, err := sqlitestore.Read(context.Background(), path, &raw)
		if errors.Is(err, sqlitestore.ErrNoState) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	} else {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		raw.Write(text)
	}
	st, err := state.Decode(raw.Bytes())
	if err == nil {
		err = state.Check(st)
	}
	return st, err
}

// labor is the model of a run of labored commands, each of which leaves its line.
func labor(body string) rig.Reply {
	done := strings.Count(body, `"role":"tool"`)
	if done >= labored {
		return rig.Reply{Text: "Done."}
	}
	return rig.Reply{Calls: []rig.Call{rig.Shell(fmt.Sprintf("c%d", done), fmt.Sprintf("echo line%d >>effects", done))}}
}

// worker is a rig whose session is saved in a format below root, which is there.
func worker(t *testing.T, format, root string) *rig.Rig {
	t.Helper()
	r := rig.New(t)
	if err := os.Symlink(root, filepath.Join(r.Dir, "session")); err != nil {
		t.Fatal(err)
	}
	r.Persistence = "format: " + format
	r.Model.Answer = func(_ int, body string) rig.Reply { return labor(body) }
	return r
}

// goesOn starts the worker anew and gives what is wrong with it; a run that was cut
// between its calls and their results is refused, by contract.
func goesOn(r *rig.Rig, st *state.State) string {
	r.Model.Answer = func(int, string) rig.Reply { return rig.Reply{Text: "Done."} }
	p := r.Online()
	defer p.Stop()
	r.Payload(rig.Approved("again", "go on"))
	refused := st != nil && (st.Loop.Phase == state.PhaseTools || st.Loop.Phase == state.PhaseBlocked)
	for {
		e := r.Next()
		if e.RequestID != "again" || e.Name != "input_rejected" && e.Name != "run_finished" {
			continue
		}
		if got := e.Name == "input_rejected"; got != refused || !got && e.Field("status") != "completed" {
			return "the next run: " + e.Raw
		}
		return ""
	}
}

// twice tells whether a command ran again, or not in its turn.
func twice(effects []string) bool {
	for i, line := range effects {
		if line != fmt.Sprintf("line%d", i) {
			return true
		}
	}
	return false
}
