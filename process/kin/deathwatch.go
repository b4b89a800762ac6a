package kin

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Watch waits for processes that are not our children, through process
// descriptors. For one goroutine; end it with Close, before which a Reaper takes the
// processes for children of this one and leaves them alone.
type Watch struct {
	Quarry []Quarry // who is waited for
}

// Quarry is one process held by a descriptor, so that a signal cannot hit a
// successor of the same number.
type Quarry struct {
	Entry
	fd int // -1: could not be opened although it lives
}

// WatchDeaths opens the processes of the list that are still the same ones.
func WatchDeaths(list []Entry) *Watch {
	w := &Watch{}
	buf := make([]byte, 4096)
	for _, e := range list {
		fd, err := unix.PidfdOpen(e.PID, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			fd = -1
		}
		if now, ok := read(e.PID, buf); !ok || now.Start != e.Start {
			closeFD(fd)
			continue
		}
		w.Quarry = append(w.Quarry, Quarry{Entry: e, fd: fd})
	}
	return w
}

// Signal sends sig to the process. An error wraps unix.ESRCH if it is gone.
func (q Quarry) Signal(sig unix.Signal) error {
	if q.fd < 0 {
		return unix.Kill(q.PID, sig)
	}
	return unix.PidfdSendSignal(q.fd, sig, nil, 0)
}

// blindStep is the wait for processes without a descriptor, and the longest
// time a wait can miss the end of its context if there is no event descriptor.
const blindStep = 5 * time.Millisecond

// Wait returns when all are dead or ctx has ended.
func (w *Watch) Wait(ctx context.Context) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		defer closeFD(wake)
		written := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(written)
			_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		})
		defer func() {
			if !stop() {
				<-written
			}
		}()
	}
	blind := err != nil
	open := []unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}} // a negative one is ignored
	for _, q := range w.Quarry {
		if q.fd < 0 {
			blind = true
			continue
		}
		open = append(open, unix.PollFd{Fd: int32(q.fd), Events: unix.POLLIN})
	}
	timeout := -1
	if blind {
		timeout = int(blindStep.Milliseconds())
	}
	for len(open) > 1 || blind {
		n, err := unix.Poll(open, timeout)
		if ctx.Err() != nil || (err == nil && n == 0) {
			return
		}
		alive := open[:1]
		for _, p := range open[1:] {
			if p.Revents == 0 || errors.Is(err, unix.EINTR) {
				alive = append(alive, p)
			}
		}
		open = alive
	}
}

// Close gives back the descriptors.
func (w *Watch) Close() {
	for _, q := range w.Quarry {
		closeFD(q.fd)
	}
}

func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}
