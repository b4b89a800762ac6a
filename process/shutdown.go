package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"simplex/process/kin"
)

// killTime is how long a process may take to vanish after SIGKILL.
const killTime = 2 * time.Second

// Shutdown ends everything (tools.md §4.8): no launch is admitted any more;
// inputs close; each group, and with a Reaper each descendant that left its
// group, gets TERM, the grace time while any member lives, then KILL; leftover
// output is drained for the drain time and cut off after it; tasks are joined;
// the table is cleared. All sessions are visited, the first failure is
// returned. The end of ctx cuts the grace time short, never the rest. May be
// called again: it returns the first failure of all calls and tries again what
// is left.
func (st *Store) Shutdown(ctx context.Context) error {
	st.mu.Lock()
	st.closed = true
	st.mu.Unlock()
	st.launches.Wait()

	st.ending.Lock()
	defer st.ending.Unlock()
	sessions := st.List()
	for _, s := range sessions {
		if s.input != nil {
			s.input.discard()
		}
	}
	failures := make([]error, len(sessions), len(sessions)+1)
	hunted := st.hunt(ctx, sessions)
	var visits sync.WaitGroup
	for i, s := range sessions {
		visits.Go(func() {
			failures[i] = s.finish(st.cfg.Drain)
			st.remove(s)
		})
	}
	visits.Wait()
	if st.cfg.Reaper != nil {
		st.cfg.Reaper.Reap()
	}
	for _, err := range append(failures, hunted) {
		if st.failure == nil {
			st.failure = err
		}
	}
	return st.failure
}

// finish joins a session whose processes have been ended.
func (s *Session) finish(drain time.Duration) error {
	timer := time.NewTimer(killTime)
	defer timer.Stop()
	select {
	case <-s.exited:
	case <-timer.C:
	}
	return s.close(drain)
}

// hunt ends the processes of the sessions, by TERM and then by KILL.
func (st *Store) hunt(ctx context.Context, sessions []*Session) error {
	h := &hunt{store: st, sessions: sessions, told: make(map[kin.Entry]bool)}
	polite, cancel := context.WithTimeout(ctx, st.cfg.Grace)
	defer cancel()
	done, err := h.until(polite, unix.SIGTERM)
	if done {
		return nil
	}
	if err != nil {
		h.blind(polite)
		return err
	}
	left, cancelKill := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancelKill()
	clear(h.told)
	done, err = h.until(left, unix.SIGKILL)
	if done {
		return nil
	}
	if err != nil {
		h.blind(left)
		return err
	}
	return &Error{Stage: StageTerminate, Err: fmt.Errorf("%d processes outlive SIGKILL: %w", h.left, h.refused)}
}

// hunt is one shutdown's search for what still lives.
type hunt struct {
	store    *Store
	sessions []*Session
	told     map[kin.Entry]bool // got the present signal, by identity
	left     int
	refused  error // last refusal of a signal
	all      bool  // every child of this process is fair game, not just the store's
}

// blind ends the groups without a look at the process table, which could not
// be read: TERM, the rest of ctx for the leaders to go, and KILL in any case.
func (h *hunt) blind(ctx context.Context) {
	for _, s := range h.sessions {
		h.note(s.child.SignalGroup(unix.SIGTERM))
	}
	for _, s := range h.sessions {
		select {
		case <-s.exited:
		case <-ctx.Done():
		}
	}
	for _, s := range h.sessions {
		h.note(s.child.SignalGroup(unix.SIGKILL))
	}
}

// until signals and waits, over and over, until nothing lives (true) or ctx ends.
func (h *hunt) until(ctx context.Context, sig unix.Signal) (bool, error) {
	for {
		living, err := h.living()
		if err != nil {
			return false, h.unread(err)
		}
		h.left = len(living)
		if len(living) == 0 {
			return true, nil
		}
		w := kin.WatchDeaths(living)
		h.tell(w, sig)
		w.Wait(ctx)
		w.Close()
		if ctx.Err() != nil && sig != unix.SIGKILL {
			return false, nil
		}
		if ctx.Err() != nil {
			living, err = h.living()
			h.left = len(living)
			return err == nil && h.left == 0, h.unread(err)
		}
	}
}

// living finds every member of a session's group, everything below a session's
// child, and with a reaper everything below an adopted orphan.
func (h *hunt) living() ([]kin.Entry, error) {
	var roots []int
	groups := make(map[int]bool)
	for _, s := range h.sessions {
		if number, ok := s.child.Group(); ok {
			groups[number] = true
		}
		if s.child.Unreaped() {
			roots = append(roots, s.child.PID())
		}
	}
	reaper := h.store.cfg.Reaper
	if reaper == nil && len(groups) == 0 && !h.all {
		return nil, nil
	}
	table, err := kin.Scan()
	if err != nil {
		return nil, err
	}
	switch {
	case h.all:
		roots = append(roots, kin.Children(table)...)
	case reaper != nil:
		reaper.Reap()
		roots = append(roots, reaper.Adopted(table)...)
	}
	below := kin.Descendants(table, roots)
	var found []kin.Entry
	for _, e := range table {
		if e.Living() && (below[e.PID] || groups[e.Group]) {
			found = append(found, e)
		}
	}
	return found, nil
}

// tell sends sig once to each process found: to whole groups where a session
// leads one, to the single process otherwise.
func (h *hunt) tell(w *kin.Watch, sig unix.Signal) {
	leaders := make(map[int]*Session, len(h.sessions))
	for _, s := range h.sessions {
		if number, ok := s.child.Group(); ok {
			leaders[number] = s
		}
	}
	groups := make(map[*Session]bool)
	for _, q := range w.Quarry {
		id := kin.Entry{PID: q.PID, Start: q.Start}
		if h.told[id] {
			continue
		}
		h.told[id] = true
		if s := leaders[q.Group]; s != nil {
			groups[s] = true
			continue
		}
		h.note(q.Signal(sig))
		if sig == unix.SIGTERM { // a stopped process must run to see the signal
			h.note(q.Signal(unix.SIGCONT))
		}
	}
	for s := range groups {
		h.note(s.child.SignalGroup(sig))
		if sig == unix.SIGTERM {
			h.note(s.child.SignalGroup(unix.SIGCONT))
		}
	}
}

func (h *hunt) unread(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Stage: StageTerminate, Err: fmt.Errorf("read the process table: %w", err)}
}

func (h *hunt) note(err error) {
	if err != nil && !errors.Is(err, unix.ESRCH) {
		h.refused = err
	}
}

// TerminateAll is the last resort where no orderly shutdown is possible: it
// sends SIGKILL to every group that lives and to every descendant of this
// process, waits for nothing and returns the number of processes it found. It
// may run beside Shutdown, whose descriptors keep an orphan from being told from
// an own child; so it asks no further whose child something is.
func (st *Store) TerminateAll() int {
	h := &hunt{store: st, sessions: st.List(), told: make(map[kin.Entry]bool), all: true}
	total := 0
	for range 3 { // what a killed parent leaves behind shows in the next round
		living, err := h.living()
		if err != nil || len(living) == 0 {
			break
		}
		before := len(h.told)
		w := kin.WatchDeaths(living)
		h.tell(w, unix.SIGKILL)
		w.Close()
		total += len(h.told) - before
	}
	if total > 0 {
		st.cfg.Logger.Warn("killed without an orderly shutdown", "processes", total)
	}
	return total
}
