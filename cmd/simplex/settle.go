package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"simplex/internal/text"
	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
	"simplex/state"
)

// effectUnknown is what the model gets where the operator has nothing better to say.
const effectUnknown = "The effect of this call is not known: the worker was killed while the call was under way. " +
	"It may have run completely, in part or not at all. Check before doing it again."

// stateStore is a store that can name its file.
type stateStore interface {
	persistence.Store
	Path() string
}

// settleState does what worker-data.md §3.5 leaves to an operator's hand: it answers the
// calls whose effects are uncertain, and leaves what a worker leaves at results_ready.
func settleState(c *cli.Context, s *storedSession) (err error) {
	answer := c.String("result")
	if strings.TrimSpace(answer) == "" {
		return usagef("--result: the text is empty")
	}
	// Opening the store would make the session's directories.
	if !exists(stateFile(s.cfg)) && !exists(otherStateFile(s.cfg)) {
		return fmt.Errorf("%w: no session is saved in %s", errNothingToSettle, stateFile(s.cfg))
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	st, err := store.Load(context.Background())
	if err != nil {
		return err
	}
	if st == nil {
		return fmt.Errorf("%w: no session is saved in %s", errNothingToSettle, store.Path())
	}
	calls, err := settle(st, strings.ToValidUTF8(answer, "\uFFFD"))
	if err != nil {
		return fmt.Errorf("%s: %w", store.Path(), err)
	}
	if err := store.Save(context.Background(), st, persistence.ResultsReady); err != nil {
		return err
	}
	_, err = fmt.Fprint(c.App.Writer, report(s.id, store.Path(), calls))
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func report(session, path string, calls []state.Call) string {
	var out strings.Builder
	fmt.Fprintf(&out, "settled session %s in %s\n", session, path)
	for _, call := range calls {
		fmt.Fprintf(&out, "result given to call %s of %s\n", text.Display(call.ID), text.Display(call.Name))
	}
	if len(calls) == 0 {
		out.WriteString("every call had its result already\n")
	}
	out.WriteString("the next run begins with these results; nothing runs again\n")
	return out.String()
}

// open takes the session's lock, which a worker that runs does not give.
func (s *storedSession) open() (stateStore, error) {
	if s.cfg.Format == sqlitestore.Format {
		store, err := sqlitestore.Open(s.sqlite())
		if err != nil { // a nil pointer must not become an interface that is not nil
			return nil, err
		}
		return store, nil
	}
	store, err := jsonstore.Open(jsonstore.Config{Root: s.cfg.Directory, StateDir: s.cfg.State, SessionID: s.id, Logger: s.logger})
	if err != nil {
		return nil, err
	}
	return store, nil
}

var errNothingToSettle = errors.New("nothing to settle")

// settle answers the calls of the last step that have no result, in call order, and gives
// them. The progress becomes that of results that are ready: the next run puts them in
// place. Results that are there already stay. On an error st may not be saved.
func settle(st *state.State, answer string) ([]state.Call, error) {
	if st.Loop == nil || st.Loop.Phase != state.PhaseTools && st.Loop.Phase != state.PhaseBlocked {
		phase := state.PhaseReady
		if st.Loop != nil {
			phase = st.Loop.Phase
		}
		return nil, fmt.Errorf("%w: loop.phase is %s, so the session takes inputs as it is", errNothingToSettle, phase)
	}
	results, settled, err := settleStep(st.LastStep(), answer)
	if err != nil {
		return nil, err
	}
	loop := *st.Loop
	loop.Phase, loop.Pending = state.PhaseReady, nil
	if len(results) > 0 {
		loop.Phase, loop.Pending = state.PhaseProjection, results
		step := *st.LastStep()
		step.Returns, step.ReturnsSet = nil, false
		st.ReplaceLastStep(&step)
	}
	st.Loop = &loop
	return settled, state.Check(st)
}

// settleStep gives the results of all calls of a step, and the calls that had none.
func settleStep(step *state.Step, answer string) (results []state.Result, settled []state.Call, err error) {
	if step == nil {
		return nil, nil, nil
	}
	there := step.Returns
	for _, call := range step.ModelResponse.Calls {
		if len(there) > 0 && there[0].Result != nil && there[0].Result.Call.ID == call.ID {
			results, there = append(results, *there[0].Result), there[1:]
			continue
		}
		results = append(results, state.Result{Call: call, Output: state.TextContent(answer)})
		settled = append(settled, call)
	}
	if len(there) > 0 {
		return nil, nil, errors.New("the last step has a result that answers no call, or one out of order; put it right by hand first")
	}
	return results, settled, nil
}
