package process

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	proc "simplex/process"
	"simplex/process/capture"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// launch is what spawn_process and run_command have in common: start, wait for a
// window, report.
type launch struct {
	spec        proc.LaunchSpec
	window      time.Duration
	autoRelease bool
	stillThere  string // hint for a session that runs on
}

func (s *Set) spawnProcess(a *tools.Arguments) (tools.Plan, error) {
	l := launch{spec: proc.LaunchSpec{Input: proc.InputPipe}}
	l.spec.Executable = a.RequireString("executable")
	l.spec.Arguments = a.SettleStrings("arguments")
	l.spec.Description = a.SettleString("description", "")
	l.spec.WorkingDirectory, _ = a.OptionalString("working_directory")
	l.spec.Environment = a.SettleStrings("environment")
	for i, entry := range l.spec.Environment {
		if strings.IndexByte(entry, '=') < 1 {
			a.Failf("environment", "must hold KEY=VALUE entries, but element %d is none", i)
		}
	}
	l.spec.InheritEnvironment = a.SettleBool("inherit_environment", true)
	l.autoRelease = a.SettleBool("auto_release", true)
	l.window = milliseconds(a.SettleUint("expected_runtime_milliseconds", 5000, 0, math.MaxUint64))
	l.spec.TTY = a.SettleBool("tty", false)
	l.stillThere = "still running, and not killed; " + howToGoOn
	return s.plan(l), nil
}

func (s *Set) runCommand(a *tools.Arguments) (tools.Plan, error) {
	l := launch{autoRelease: true}
	l.spec = proc.ShellSpec(a.RequireString("command"))
	l.spec.WorkingDirectory, _ = a.OptionalString("working_directory")
	window := a.SettleUint("expected_runtime_milliseconds", 3000, 0, math.MaxUint64)
	l.window = milliseconds(window)
	l.spec.TTY = a.SettleBool("tty", false)
	if a.SettleBool("interactive", false) || l.spec.TTY {
		l.spec.Input = proc.InputPipe
		a.Settle("interactive", state.BoolValue(true))
	}
	l.stillThere = fmt.Sprintf("still running after %d ms, and not killed; %s", window, howToGoOn)
	if window == 0 {
		l.stillThere = "started in the background, nothing was waited for; " + howToGoOn
	}
	return s.plan(l), nil
}

const howToGoOn = "wait for it with poll_process, see its output with read_process, write to it or end it with send_process"

// retiredFromRun advises on arguments that run_command used to have.
func retiredFromRun(argument string) (advice string, retired bool) {
	switch argument {
	case "environment":
		return "set variables in the command line (`LANG=C cmd`, `export LANG=C; cmd`) or use spawn_process", true
	case "inherit_environment":
		return "clear the environment in the command line (`env -i cmd`) or use spawn_process", true
	case "auto_release":
		return "a finished command is always released; use spawn_process to keep its session", true
	default:
		return "", false
	}
}

func (s *Set) plan(l launch) tools.Plan {
	return tools.Plan{
		Type: state.SerialWrite, Security: state.RequireConfirm,
		Invoke: func(ctx context.Context) (state.Result, error) { return s.launch(ctx, l) },
	}
}

func (s *Set) launch(ctx context.Context, l launch) (state.Result, error) {
	session, err := s.store.Spawn(ctx, l.spec)
	if err != nil {
		return state.Result{}, launchFailure(err, l.spec.Description)
	}
	if await(ctx, session.Exited(), l.window) {
		await(ctx, session.Complete(), l.window)
	}
	var text result.Text
	s.report(text.Record(), session, l)
	return state.Result{Output: text.Content()}, nil
}

// report writes the record of a launch, and releases the session where everything
// is in it.
func (s *Set) report(r *result.Record, session *proc.Session, l launch) {
	snap := look(session)
	exited := snap.State != proc.Running
	complete := exited && snap.OutputComplete
	var outputs []capture.Output
	if exited {
		outputs = session.Read("", true)
	}
	released := complete && l.autoRelease && s.release(session)
	sessionFields(r, snap)
	r.Bool("finished", exited)
	r.Bool("output_complete", complete)
	r.Bool("released", released)
	switch {
	case !exited:
		r.String("hint", l.stillThere)
	case !complete:
		r.String("hint", "exited, but the output is not complete: a process it started may hold it open; collect the rest with poll_process")
	case !released:
		r.String("hint", "the session is kept; release it with read_process and release: true when you need it no more")
	}
	blocks(r, "", outputs)
}

// await tells whether the event came within the time. No time is no wait.
func await(ctx context.Context, event <-chan struct{}, most time.Duration) bool {
	select {
	case <-event:
		return true
	default:
	}
	if most <= 0 {
		return false
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-event:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// look takes a snapshot. The state turns a moment before the store lets go of the
// session; that moment is waited for, so that what looks exited can be released.
func look(session *proc.Session) proc.Snapshot {
	snap := session.Snapshot()
	if snap.State != proc.Running {
		<-session.Exited()
	}
	return snap
}

// release drops an exited session. Where another call was faster it is gone all the
// same, and where its end was not clean, too.
func (s *Set) release(session *proc.Session) bool {
	err := s.store.Release(session.ID())
	if errors.Is(err, proc.ErrRunning) {
		return false
	}
	if err != nil && !errors.Is(err, proc.ErrNoSession) {
		s.logger.Warn("session released with an error", "session", session.ID(), "error", err)
	}
	return true
}
