package intercom

import (
	"context"
	"fmt"
	"sync"
)

// writeQueue holds the frames that wait for a connection. A frame counts against the
// bytes until its write is over, against the frames until it is taken.
type writeQueue struct {
	maxFrames, maxBytes int

	mu      sync.Mutex
	frames  [][]byte
	bytes   int
	active  bool          // a taken frame is being written
	changed chan struct{} // closed, and replaced, when a frame was taken or written
	stopped bool

	filled chan struct{} // capacity 1: there may be something to take
	space  chan struct{} // capacity 1: something was taken or written
}

func newWriteQueue(maxFrames, maxBytes int) *writeQueue {
	return &writeQueue{
		maxFrames: maxFrames,
		maxBytes:  maxBytes,
		changed:   make(chan struct{}),
		filled:    make(chan struct{}, 1),
		space:     make(chan struct{}, 1),
	}
}

// put admits a frame, waiting while all frame slots are taken.
func (q *writeQueue) put(ctx context.Context, frame []byte) error {
	for {
		changed, err := q.tryPut(frame)
		if err == nil || changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tryPut admits a frame or says why not. On ErrQueueFull it gives the channel that is
// closed at the next change.
func (q *writeQueue) tryPut(frame []byte) (<-chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.stopped:
		return nil, ErrStopped
	case q.bytes+len(frame) > q.maxBytes:
		return nil, fmt.Errorf("%w: %d queued, %d more, limit %d", ErrQueueBytes, q.bytes, len(frame), q.maxBytes)
	case len(q.frames) >= q.maxFrames:
		return q.changed, ErrQueueFull
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	signal(q.filled)
	return nil, nil
}

// take removes the oldest frame for writing; done must follow. It waits until ctx ends.
func (q *writeQueue) take(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if frame := q.tryTake(); frame != nil {
			return frame, nil
		}
		select {
		case <-q.filled:
		case <-ctx.Done():
		}
	}
}

func (q *writeQueue) tryTake() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.frames) == 0 {
		return nil
	}
	frame := q.frames[0]
	q.frames[0] = nil
	q.frames = q.frames[1:]
	q.active = true
	q.wake()
	return frame
}

// done ends the write of a frame of n bytes, well or not.
func (q *writeQueue) done(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active = false
	q.bytes -= n
	q.wake()
}

// stop discards what is queued and refuses further frames.
func (q *writeQueue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return
	}
	q.stopped = true
	for _, frame := range q.frames {
		q.bytes -= len(frame)
	}
	q.frames = nil
	q.wake()
}

// drain waits until nothing is queued or being written.
func (q *writeQueue) drain(ctx context.Context) error {
	for {
		q.mu.Lock()
		changed, stopped, empty := q.changed, q.stopped, len(q.frames) == 0 && !q.active
		q.mu.Unlock()
		if stopped {
			return ErrStopped
		}
		if empty {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// load tells what waits: frames not yet taken, and bytes with the active write.
func (q *writeQueue) load() (frames, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames), q.bytes
}

// wake tells all who wait for a change; q.mu is held.
func (q *writeQueue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
	signal(q.space)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
