package process

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// deathWatch waits for processes that are not our children, through process
// descriptors.
type deathWatch struct {
	quarry []quarry
}

// quarry is one process held by a descriptor, so that a signal cannot hit a
// successor of the same number.
type quarry struct {
	entry
	fd int // -1: could not be opened although it lives
}

// watchDeaths opens the processes of the list that are still the same ones.
func watchDeaths(list []entry) *deathWatch {
	w := &deathWatch{}
	buf := make([]byte, 4096)
	for _, e := range list {
		fd, err := unix.PidfdOpen(e.pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			fd = -1
		}
		if now, ok := readEntry(e.pid, buf); !ok || now.start != e.start {
			closeFD(fd)
			continue
		}
		w.quarry = append(w.quarry, quarry{entry: e, fd: fd})
	}
	return w
}

func (q quarry) signal(sig unix.Signal) error {
	if q.fd < 0 {
		return unix.Kill(q.pid, sig)
	}
	return unix.PidfdSendSignal(q.fd, sig, nil, 0)
}

// blindStep is the wait for processes without a descriptor, and the longest
// time a wait can miss the end of its context if there is no event descriptor.
const blindStep = 5 * time.Millisecond

// wait returns when all are dead or ctx has ended.
func (w *deathWatch) wait(ctx context.Context) {
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
	for _, q := range w.quarry {
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

func (w *deathWatch) close() {
	for _, q := range w.quarry {
		closeFD(q.fd)
	}
}

func closeFD(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}
