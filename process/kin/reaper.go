package kin

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNoPidfd: the kernel, or a filter in front of it, has no process
// descriptors; without them adopted orphans cannot be told from own children.
var ErrNoPidfd = errors.New("no process descriptors (pidfd)")

// Reaper makes the process the parent of every descendant whose own parent has
// died, and reaps such adopted orphans as they end.
//
// A plain wait for any child would steal the exit status that os/exec, or a
// Child, waits for. What tells the two apart: a child that this process
// started is held by a process descriptor from the very clone that made it
// until its status was consumed, because the Go runtime and process.Store both
// start children that way; an adopted orphan never is. So the reaper looks (without
// consuming) whether anything can be reaped, lists the children, and reaps by
// id those that are dead and that no descriptor of this process refers to. Only
// the reaper consumes orphans, so an id cannot change hands between the look
// and the wait.
//
// One per operating system process. Safe for concurrent use; end it with Close.
type Reaper struct {
	logger  *slog.Logger
	signals chan os.Signal
	closing chan struct{}
	done    sync.WaitGroup
	mu      sync.Mutex // one pass at a time
}

// EnableSubreaper turns adoption on for the whole operating system process and
// starts reaping. A nil logger is silent. Fails with ErrNoPidfd where orphans
// could not be told from own children.
func EnableSubreaper(logger *slog.Logger) (*Reaper, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	defer func() { _ = self.Release() }()
	if err := self.WithHandle(func(uintptr) {}); err != nil {
		return nil, fmt.Errorf("subreaper: %w: %w", ErrNoPidfd, err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("subreaper: %w", err)
	}
	r := &Reaper{logger: logger, signals: make(chan os.Signal, 1), closing: make(chan struct{})}
	signal.Notify(r.signals, unix.SIGCHLD)
	r.done.Go(r.follow)
	return r, nil
}

// gathering is half of how long an orphan may stay unreaped. Most deaths are those of
// own children, whose waits are already on their way: only what is dead at two looks in a
// row is worth the search for what it is, which costs a launch time.
const gathering = 20 * time.Millisecond

func (r *Reaper) follow() {
	timer := time.NewTimer(gathering)
	defer timer.Stop()
	for range r.signals {
		if !r.rest(timer) {
			return
		}
		if !anyDead() {
			continue
		}
		if !r.rest(timer) {
			return
		}
		r.Reap()
	}
}

// rest waits between a death and a look; false: the Reaper is closing.
func (r *Reaper) rest(timer *time.Timer) bool {
	timer.Reset(gathering)
	select {
	case <-timer.C:
		return true
	case <-r.closing:
		return false
	}
}

// anyDead tells whether a child waits to be reaped.
func anyDead() bool {
	dead, err := probe(unix.P_ALL, 0, unix.WNOHANG)
	return dead && err == nil
}

// Close turns adoption off and ends the reaping. Orphans adopted before stay
// children of this process.
func (r *Reaper) Close() error {
	signal.Stop(r.signals)
	close(r.closing)
	close(r.signals)
	r.done.Wait()
	r.Reap()
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
}

// Reap consumes every adopted orphan that has ended.
func (r *Reaper) Reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !anyDead() {
		return
	}
	var dead []int
	for _, pid := range children() {
		if exited, err := probe(unix.P_PID, pid, unix.WNOHANG); exited && err == nil {
			dead = append(dead, pid)
		}
	}
	if len(dead) == 0 {
		return
	}
	held := heldProcesses()
	for _, pid := range dead {
		if held[pid] {
			continue
		}
		var status unix.WaitStatus
		if got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil); err == nil && got == pid {
			r.logger.Debug("reaped an adopted orphan", "pid", pid)
		}
	}
}

// Adopted filters the living children of this process that it did not start.
func (r *Reaper) Adopted(table []Entry) []int {
	found := Children(table)
	if len(found) == 0 {
		return nil
	}
	held := heldProcesses() // after the look: a held child is held from its birth on
	orphans := found[:0]
	for _, pid := range found {
		if !held[pid] {
			orphans = append(orphans, pid)
		}
	}
	return orphans
}

// Children lists the living children of this process.
func Children(table []Entry) []int {
	self := os.Getpid()
	var found []int
	for _, e := range table {
		if e.Parent == self && e.Living() {
			found = append(found, e.PID)
		}
	}
	return found
}

// children lists this process's children, dead ones too.
func children() []int {
	threads, err := numbersIn("/proc/self/task")
	if err != nil {
		return nil
	}
	var pids []int
	for _, tid := range threads {
		list, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/children")
		if err != nil {
			return childrenByScan() // a kernel without these lists, or a thread that ended
		}
		for _, field := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func childrenByScan() []int {
	table, err := Scan()
	if err != nil {
		return nil
	}
	self := os.Getpid()
	var pids []int
	for _, e := range table {
		if e.Parent == self {
			pids = append(pids, e.PID)
		}
	}
	return pids
}

// heldProcesses are the processes that a descriptor of this process refers to.
func heldProcesses() map[int]bool {
	held := make(map[int]bool)
	fds, err := numbersIn("/proc/self/fdinfo")
	if err != nil {
		return held
	}
	for _, fd := range fds {
		info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
		if err != nil {
			continue
		}
		if pid, ok := pidOf(info); ok {
			held[pid] = true
		}
	}
	return held
}

// pidOf reads the Pid line of a descriptor's description; only process
// descriptors have one, and -1 there means reaped.
func pidOf(info []byte) (int, bool) {
	for line := range bytes.Lines(info) {
		if value, ok := bytes.CutPrefix(line, []byte("Pid:")); ok {
			pid, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return pid, err == nil && pid > 0
		}
	}
	return 0, false
}
