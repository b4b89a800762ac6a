package process

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	proc "simplex/process"
	"simplex/process/capture"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// poll is a settled poll_process call.
type poll struct {
	ids           []string
	wait          time.Duration
	includeOutput bool
	releaseExited bool
}

func (s *Set) pollProcess(a *tools.Arguments) (tools.Plan, error) {
	p := poll{
		ids:           a.SettleStrings("session_ids"),
		wait:          milliseconds(a.SettleUint("wait_timeout_milliseconds", 30000, 0, math.MaxUint64)),
		includeOutput: a.SettleBool("include_output", true),
		releaseExited: a.SettleBool("release_exited", false),
	}
	return tools.Plan{
		Type: state.ReadOnly, Security: state.Trusted,
		Invoke: func(ctx context.Context) (state.Result, error) { return s.poll(ctx, p) },
	}, nil
}

// seen is one session as a poll saw it.
type seen struct {
	session *proc.Session
	snap    proc.Snapshot
	outputs []capture.Output
	dropped bool
}

func (v *seen) exited() bool   { return v.snap.State != proc.Running }
func (v *seen) finished() bool { return v.exited() && v.snap.OutputComplete }

func (s *Set) poll(ctx context.Context, p poll) (state.Result, error) {
	sessions := s.selected(p.ids)
	began := s.now()
	if p.wait > 0 {
		bounded, cancel := context.WithTimeout(ctx, p.wait)
		_ = s.store.WaitAny(bounded, sessions) // its end by time is a normal result
		cancel()
	}
	waited := s.now().Sub(began)
	views := make([]*seen, len(sessions))
	for i, session := range sessions {
		// First the state, then the output: what is called complete is complete.
		views[i] = &seen{session: session, snap: look(session)}
		if p.includeOutput {
			views[i].outputs = session.Read("", false)
		}
	}
	if p.releaseExited {
		s.releaseAll(views)
	}
	var text result.Text
	s.pollHeader(text.Record(), views, waited)
	for _, v := range views {
		r := text.Record()
		sessionFields(r, v.snap)
		if v.exited() {
			r.Bool("output_complete", v.snap.OutputComplete)
		}
		blocks(r, "new_", v.outputs)
	}
	return state.Result{Output: text.Content()}, nil
}

// selected finds the sessions by number; no ids select all there are now.
func (s *Set) selected(ids []string) []*proc.Session {
	all := s.store.List()
	if len(ids) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(session *proc.Session) bool {
		return !slices.Contains(ids, session.ID())
	})
}

// releaseAll releases at once, as each may have to wait for leftover output.
func (s *Set) releaseAll(views []*seen) {
	var wg sync.WaitGroup
	for _, v := range views {
		if v.exited() {
			wg.Go(func() { v.dropped = s.release(v.session) })
		}
	}
	wg.Wait()
}

func (s *Set) pollHeader(r *result.Record, views []*seen, waited time.Duration) {
	var released, incomplete []string
	finished := 0
	for _, v := range views {
		switch {
		case v.finished():
			finished++
		case v.exited() && !v.dropped:
			incomplete = append(incomplete, v.snap.ID)
		}
		if v.dropped {
			released = append(released, v.snap.ID)
		}
	}
	r.Bool("timed_out", finished == 0)
	r.Int("waited_milliseconds", waited.Milliseconds())
	r.Int("finished_count", int64(finished))
	r.Int("session_count", int64(len(views)))
	r.Int("retained_session_count", int64(len(s.store.List())))
	r.Strings("released", released)
	if len(incomplete) > 0 {
		r.String("hint", "exited, but the output is not complete yet (a process they started may hold it open): "+
			strings.Join(incomplete, ", ")+"; poll again, or release them if you need no more")
	}
}
