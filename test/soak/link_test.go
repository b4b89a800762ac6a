package soak

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// link passes Ethernet frames between two interfaces by packet sockets, as a bridge that
// loses, delays or swallows them.
type link struct {
	loss   atomic.Int64 // frames in 10,000 that are lost
	delay  atomic.Int64 // nanoseconds, each way
	cut    atomic.Bool  // swallow everything, tell nobody
	passed atomic.Int64
	lost   atomic.Int64
	ended  atomic.Bool
}

// frame is a frame on its way with the time at which it arrives.
type frame struct {
	data []byte
	due  time.Time
}

// readEvery bounds how long a reader does not see that its link ended.
const readEvery = 50 * time.Millisecond

// newLink joins two interfaces of the namespace that inside runs code in.
func newLink(t *testing.T, inside func(func() error) error, a, b int) *link {
	t.Helper()
	l := new(link)
	var sockets [2]int
	for i, index := range []int{a, b} {
		err := inside(func() (err error) {
			sockets[i], err = packetSocket(index)
			return err
		})
		if err != nil {
			t.Fatalf("packet socket: %v", err)
		}
	}
	done := make(chan struct{}, 4)
	for i := range sockets {
		lane := make(chan frame, 8192)
		go func() { l.read(sockets[i], lane); close(lane); done <- struct{}{} }()
		go func() { l.write(sockets[1-i], lane); done <- struct{}{} }()
	}
	t.Cleanup(func() {
		l.ended.Store(true)
		for range cap(done) {
			<-done
		}
		for _, fd := range sockets {
			_ = unix.Close(fd)
		}
	})
	return l
}

// packetSocket sees all frames of an interface. The header for virtual networks keeps
// large segments and unfinished checksums as they are.
func packetSocket(index int) (int, error) {
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return 0, err
	}
	every := unix.NsecToTimeval(readEvery.Nanoseconds())
	for _, step := range []func() error{
		func() error { return unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1) },
		func() error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) },
		func() error { return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &every) },
		func() error { return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}) },
	} {
		if err := step(); err != nil {
			_ = unix.Close(fd)
			return 0, err
		}
	}
	return fd, nil
}

func (l *link) read(fd int, lane chan<- frame) {
	buf := make([]byte, 128<<10)
	for !l.ended.Load() {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			continue // the time limit
		}
		if at, ok := from.(*unix.SockaddrLinklayer); ok && at.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if l.cut.Load() || rand.Int64N(10_000) < l.loss.Load() {
			l.lost.Add(1)
			continue
		}
		l.passed.Add(1)
		select {
		case lane <- frame{append([]byte(nil), buf[:n]...), time.Now().Add(time.Duration(l.delay.Load()))}:
		default:
			l.lost.Add(1) // as a full router would
		}
	}
}

func (l *link) write(fd int, lane <-chan frame) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for f := range lane {
		if wait := time.Until(f.due); wait > 0 {
			timer.Reset(wait)
			<-timer.C
		}
		if _, err := unix.Write(fd, f.data); err != nil {
			l.lost.Add(1)
		}
	}
}
