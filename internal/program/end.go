package program

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	killTime = 2 * time.Second // to vanish after KILL
	// drainTime is for streams that an escaped descendant holds, and for a process to
	// end behind its streams.
	drainTime = 100 * time.Millisecond
)

// wait looks for the leader's end without consuming it, kills what is left of the
// group while the number is still its own, and only then reaps.
func (c *Child) wait() {
	defer close(c.exited)
	for errors.Is(unix.Waitid(unix.P_PID, c.PID(), nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.PID(), unix.SIGKILL)
	c.status = c.cmd.Wait()
	c.reaped = true
}

// signal reaches the whole group.
func (c *Child) signal(sig unix.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(-c.PID(), sig)
	}
}

// End makes an end of the program and its group: end of input, the time for that, TERM,
// the grace time, KILL. A closed hurry cuts every wait but the last short. The streams
// are closed afterwards, a moment later where somebody still holds standard error. The
// error tells of a process that survived even KILL. It may be called once.
func (c *Child) End(grace time.Duration, hurry <-chan struct{}) error {
	defer c.finish()
	_ = c.Stdin.Close()
	if c.inputGrace > 0 && c.gone(c.inputGrace, hurry) {
		return nil
	}
	c.signal(unix.SIGTERM)
	c.signal(unix.SIGCONT) // a stopped one must run to see it
	if c.gone(grace, hurry) {
		return nil
	}
	c.signal(unix.SIGKILL)
	if c.gone(killTime, nil) {
		return nil
	}
	return fmt.Errorf("process %d outlives SIGKILL", c.PID())
}

// Ending tells whether the program has ended, or does within a moment (100 ms) and
// before hurry is closed: its streams end a little earlier than the process.
func (c *Child) Ending(hurry <-chan struct{}) bool { return c.gone(drainTime, hurry) }

// gone waits for the exit, at most that long and not beyond hurry.
func (c *Child) gone(most time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
	case <-hurry:
	}
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// finish closes the streams, after a moment for what is still in them.
func (c *Child) finish() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-c.logged:
	case <-timer.C:
	}
	c.closeStreams()
	<-c.logged
}
