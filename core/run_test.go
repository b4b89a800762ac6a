package core

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"simplex/hooks"
	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
)

func TestRememberedForgetsOnlyTheOldest(t *testing.T) {
	r := newRemembered()
	for i := range wire.RememberedRequests + 2 {
		r.add(strconv.Itoa(i))
	}
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, strconv.Itoa(wire.RememberedRequests + 1): true} {
		if r.has(id) != want {
			t.Errorf("has(%s) = %v, want %v", id, !want, want)
		}
	}
}

func TestCancelOnlyTheRunThatIsNamed(t *testing.T) {
	var r runs
	ctx, cancel := context.WithCancel(context.Background())
	scope := newConfirmer(nil).open(wire.ModeApprove, "run-1")
	if !r.begin(&activeRun{id: "run-1", scope: scope, cancel: cancel}) {
		t.Fatal("a run could not begin")
	}
	r.cancel("run-0")
	if ctx.Err() != nil {
		t.Fatal("a stale id cancelled the run")
	}
	r.cancel("run-1")
	if ctx.Err() == nil {
		t.Error("the run goes on")
	}
	if ok, _ := scope.confirm(context.Background(), someCall); ok {
		t.Error("confirmations are still open")
	}
	r.end()
	r.halt()
	if r.begin(&activeRun{id: "run-2", scope: scope, cancel: cancel}) {
		t.Error("a run began after the halt")
	}
}

// brokenDisk is a store whose saves fail at one boundary.
type brokenDisk struct {
	at    persistence.Boundary
	saves []persistence.Boundary
}

func (d *brokenDisk) Load(context.Context) (*state.State, error) { return nil, nil }
func (d *brokenDisk) Format() string                             { return "json" }
func (d *brokenDisk) Close() error                               { return nil }

func (d *brokenDisk) Save(_ context.Context, _ *state.State, b persistence.Boundary) error {
	d.saves = append(d.saves, b)
	if b == d.at {
		return errors.New("no space left on device")
	}
	return nil
}

func TestAFailedSaveLatches(t *testing.T) {
	disk := &brokenDisk{at: persistence.ResultsReady}
	app, told := testApplication(disk)
	st := app.session.st
	if _, err := app.session.save(st, persistence.BeforeTools); err != nil {
		t.Fatal(err)
	}
	if _, err := app.session.save(st, persistence.ResultsReady); err == nil {
		t.Fatal("the failure is silent")
	}
	if _, err := app.session.save(st, persistence.RunFinished); !errors.Is(err, persistence.ErrStorageFailed) {
		t.Errorf("a save after the failure: %v", err)
	}
	if got, want := fmt.Sprint(disk.saves), "[before_tools results_ready]"; got != want {
		t.Errorf("saves %s, want %s", got, want)
	}
	want := []string{`persisted {"boundary":"before_tools","format":"json"}`, `error {"message":"no space left on device","durable":false}`}
	if got := told(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told %v, want %v", got, want)
	}
	if err := app.precondition(&wire.Input{Operation: wire.OpMessage, RequestID: "r"}); err == nil {
		t.Error("an input is accepted after storage failed")
	}
}

// TestSaveUnderWayIsAwaited checks that the step_finished save, which runs beside the
// next model request, ends before anything else is told or saved, and that its failure
// reaches the run.
func TestSaveUnderWayIsAwaited(t *testing.T) {
	disk := &brokenDisk{at: persistence.StepFinished}
	app, _ := testApplication(disk)
	o := &observer{app: app}
	st := app.session.st
	step := &hooks.Event{Name: hooks.StepFinished, State: st, Calls: []state.Call{someCall}}
	if err := o.Handle(context.Background(), step); err != nil {
		t.Fatal(err)
	}
	if err := o.Handle(context.Background(), &hooks.Event{Name: hooks.BeforeModel, State: st}); err != nil {
		t.Errorf("the model waits for the save: %v", err)
	}
	if err := o.Handle(context.Background(), &hooks.Event{Name: hooks.ModelCommitted, State: st}); err == nil {
		t.Error("the failed save is forgotten")
	}
}

// TestAFailedLastSaveIsToldOnce: the worker ends with the failure, so the run's own end
// must not tell it a second time.
func TestAFailedLastSaveIsToldOnce(t *testing.T) {
	app, told := testApplication(&brokenDisk{at: persistence.RunFinished})
	o := &observer{app: app}
	if err := o.Handle(context.Background(), &hooks.Event{Name: hooks.RunFinished, State: app.session.st}); err != nil {
		t.Errorf("told by the run, too: %v", err)
	}
	if o.durable || app.session.failure == nil {
		t.Errorf("durable %v, failure %v", o.durable, app.session.failure)
	}
	if got := told(); len(got) != 1 {
		t.Errorf("told %v", got)
	}
}

func TestPlainAnswersAreSavedWithTheirRunOnly(t *testing.T) {
	disk := &brokenDisk{}
	app, _ := testApplication(disk)
	o := &observer{app: app}
	for _, name := range []hooks.Name{hooks.StepFinished, hooks.RunFinished} {
		if err := o.Handle(context.Background(), &hooks.Event{Name: name, State: app.session.st}); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(disk.saves); got != "[run_finished]" || !o.durable {
		t.Errorf("saves %s, durable %v", got, o.durable)
	}
}

func TestCancelledRunsAreSavedWhateverTheConfigurationSays(t *testing.T) {
	disk := &brokenDisk{}
	app, _ := testApplication(disk)
	app.session.policy.SkipRunFinished = true
	app.session.st.Loop.Status = state.StatusCancelled
	o := &observer{app: app}
	if err := o.Handle(context.Background(), &hooks.Event{Name: hooks.RunFinished, State: app.session.st}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(disk.saves); got != "[cancelled]" {
		t.Errorf("saves %s, want [cancelled]", got)
	}
}

func TestUncertainEffectsRefuseNewInput(t *testing.T) {
	for phase, refused := range map[state.LoopPhase]bool{
		state.PhaseReady: false, state.PhaseModel: false, state.PhaseProjection: false,
		state.PhaseTools: true, state.PhaseBlocked: true,
	} {
		if err := recoverable(&state.LoopProgress{Phase: phase}); (err != nil) != refused {
			t.Errorf("phase %s: %v", phase, err)
		}
	}
}
