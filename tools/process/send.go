package process

import (
	"context"
	"errors"
	"strings"
	"syscall"

	proc "simplex/process"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// send is a settled send_process call, and what became of it.
type send struct {
	id     string
	input  string
	end    bool // close_input
	signal string

	signalled bool
	warnings  []string
}

func (s *Set) sendProcess(a *tools.Arguments) (tools.Plan, error) {
	q := send{
		id:     a.RequireString("session_id"),
		input:  a.SettleString("input", ""),
		end:    a.SettleBool("close_input", false),
		signal: a.SettleEnum("signal", "", "", "term", "kill"),
	}
	if a.Err() == nil && q.input == "" && !q.end && q.signal == "" {
		return tools.Plan{}, errors.New("nothing to do: give input, close_input: true, or signal (term or kill)")
	}
	return tools.Plan{
		Type: state.SerialWrite, Security: state.RequireConfirm,
		Invoke: func(context.Context) (state.Result, error) { return s.send(q) },
	}, nil
}

func (s *Set) send(q send) (state.Result, error) {
	session, err := s.store.Get(q.id)
	if err != nil {
		return state.Result{}, sessionFailure(q.id, "send", err)
	}
	if err := q.apply(session); err != nil {
		return state.Result{}, err
	}
	var text result.Text
	r := text.Record()
	r.String("session_id", q.id)
	snap := look(session)
	if _, err := s.store.Get(q.id); err == nil { // not released meanwhile
		r.String("state", string(snap.State))
	}
	q.report(r, snap.Spec.TTY)
	return state.Result{Output: text.Content()}, nil
}

// apply does the parts in their order. Input that a running child cannot get is an
// error before anything else is done; what an exited child cannot get is a warning.
func (q *send) apply(session *proc.Session) error {
	if q.input != "" {
		err := session.Send([]byte(q.input))
		if err != nil && !gone(session) {
			return sessionFailure(q.id, "input was not sent", err)
		}
		if err != nil {
			q.warnings = append(q.warnings, "the input was discarded")
		}
	}
	if q.end {
		if gone(session) {
			q.warnings = append(q.warnings, "there was no input left to close")
		} else if err := session.CloseInput(); err != nil && !errors.Is(err, proc.ErrNoInput) {
			return sessionFailure(q.id, "end of input was not requested", err)
		}
	}
	if q.signal == "" {
		return nil
	}
	signal := syscall.SIGTERM
	if q.signal == "kill" {
		signal = syscall.SIGKILL
	}
	var err error
	if q.signalled, err = session.Signal(signal); err != nil {
		return sessionFailure(q.id, "cannot signal", err)
	}
	if !q.signalled {
		q.warnings = append(q.warnings, "no signal was sent")
	}
	return nil
}

func (q *send) report(r *result.Record, tty bool) {
	if q.input != "" || q.end {
		r.Int("bytes_queued", int64(len(q.input)))
		r.Bool("input_closed", q.end && !tty)
	}
	if q.signal != "" {
		r.String("signal", q.signal)
		r.Bool("signalled", q.signalled)
	}
	var notes []string
	if q.input != "" {
		notes = append(notes, "queued input is not confirmed as delivered; look for its effect with poll_process or read_process")
	}
	if q.end && tty {
		notes = append(notes, "in a terminal the end of input is a request, which the program may ignore; the input stays open")
	}
	r.String("note", strings.Join(notes, "; "))
	if q.signalled {
		r.String("hint", "confirm the exit with poll_process")
	}
	if len(q.warnings) > 0 {
		r.String("warning", "the process has already exited: "+strings.Join(q.warnings, ", and "))
	}
}

// gone tells whether the child has exited.
func gone(session *proc.Session) bool { return look(session).State != proc.Running }
