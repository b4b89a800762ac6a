package kin

import (
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Child is one started process and the group it leads. Where the kernel has
// pidfds, waiting goes through the runtime's poller (no thread is parked for a
// running child) and group signals go to the very group that was started, even
// if its number were used again. Safe for concurrent use; Wait is for one caller.
type Child struct {
	pid   int
	pidfd *os.File // nil on kernels without pidfds

	mu        sync.Mutex // reaping and signalling exclude each other
	reaped    bool
	groupGone bool // seen empty after the leader was reaped: never signal again
}

// NewChild takes over a process that was started as the leader of its own group,
// with the process descriptor that its clone gave, -1 for none.
func NewChild(pid, pidfd int) *Child {
	c := &Child{pid: pid}
	if pidfd >= 0 {
		if err := unix.SetNonblock(pidfd, true); err != nil {
			_ = unix.Close(pidfd)
			return c
		}
		c.pidfd = os.NewFile(uintptr(pidfd), "pidfd")
	}
	return c
}

// PID is the leader's number.
func (c *Child) PID() int { return c.pid }

// Interruptible tells that Close ends a Wait under way: there is a process descriptor.
func (c *Child) Interruptible() bool { return c.pidfd != nil }

// Wait blocks until the leader has exited, reaps it and returns its status.
// Close makes it return os.ErrClosed.
func (c *Child) Wait() (unix.WaitStatus, error) {
	if err := c.awaitExit(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(c.pid, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		c.reaped = true
		c.groupGone = errors.Is(c.sendGroup(0), unix.ESRCH)
		return status, err
	}
}

// awaitExit returns when the leader can be reaped, and leaves it unreaped.
func (c *Child) awaitExit() error {
	if c.pidfd == nil {
		_, err := probe(unix.P_PID, c.pid, 0)
		return err
	}
	raw, err := c.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Read(func(fd uintptr) bool {
		exited, err := probe(unix.P_PIDFD, int(fd), unix.WNOHANG)
		if errors.Is(err, unix.EAGAIN) {
			return false
		}
		failure = err
		return exited || err != nil
	})
	return errors.Join(err, failure)
}

// probe looks for an exit without consuming it.
func probe(kind, id, options int) (exited bool, err error) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(kind, id, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && info.Signo != 0, err
	}
}

// Signal sends sig to the group if the leader has not exited, and tells
// whether it did. The foreground group, 0 if there is none, gets it before.
func (c *Child) Signal(sig unix.Signal, foreground int) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return false, nil
	}
	if exited, err := probe(unix.P_PID, c.pid, unix.WNOHANG); exited || err != nil {
		return false, err
	}
	if foreground > 0 && foreground != c.pid && c.leads(foreground) {
		if err := unix.Kill(-foreground, sig); err != nil && !errors.Is(err, unix.ESRCH) {
			return false, err
		}
	}
	if err := c.sendGroup(sig); err != nil {
		return false, err
	}
	return true, nil
}

// leads tells whether a group is of the session that the child leads: a
// terminal may still name a group whose number was given to somebody else.
func (c *Child) leads(group int) bool {
	table, err := Scan()
	return err == nil && slices.ContainsFunc(table, func(e Entry) bool {
		return e.Group == group && e.session == c.pid && e.Living()
	})
}

// SignalGroup sends sig to whoever is left in the group, leader or not.
// An empty group is no error.
func (c *Child) SignalGroup(sig unix.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groupGone {
		return nil
	}
	err := c.sendGroup(sig)
	if errors.Is(err, unix.ESRCH) {
		c.groupGone = c.reaped
		return nil
	}
	return err
}

// Group is the group's number as long as it is surely still the group's own.
func (c *Child) Group() (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		return c.pid, true
	}
	if c.groupGone {
		return 0, false
	}
	c.groupGone = errors.Is(c.sendGroup(0), unix.ESRCH)
	return c.pid, !c.groupGone
}

// Unreaped tells that the leader's number is still its own.
func (c *Child) Unreaped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.reaped
}

// sendGroup needs c.mu.
func (c *Child) sendGroup(sig unix.Signal) error {
	if c.pidfd == nil {
		return unix.Kill(-c.pid, sig)
	}
	raw, err := c.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		sent = unix.PidfdSendSignal(int(fd), sig, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
	})
	if err != nil { // closed: the session is over, and so is our claim on the group
		return unix.ESRCH
	}
	if errors.Is(sent, unix.EINVAL) { // kernel before 6.9
		return unix.Kill(-c.pid, sig)
	}
	return sent
}

// Close gives back the process descriptor; the process itself is left alone.
func (c *Child) Close() {
	if c.pidfd != nil {
		_ = c.pidfd.Close()
	}
}
