package process

import (
	"bytes"
	"sync"
)

// InputQueueLimit is the number of messages that may wait for a child to read.
const InputQueueLimit = 16

// input is the ordered queue in front of a child's descriptor 0. Senders never
// wait for delivery. A goroutine writes as long as something is queued and ends
// when nothing is. Safe for concurrent use.
type input struct {
	sink sink

	mu      sync.Mutex
	queue   []message
	writing bool
	closed  bool
	idle    sync.WaitGroup // the writing goroutine
}

type message struct {
	data []byte
	last bool
}

// send queues a copy of p.
func (in *input) send(p []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrInputClosed
	}
	if len(in.queue) >= InputQueueLimit {
		return ErrInputFull
	}
	if err := in.sink.admit(p); err != nil {
		return err
	}
	in.push(message{data: bytes.Clone(p)})
	return nil
}

// finish asks for the end of input after what is queued. With a pipe nothing
// is accepted afterwards and a second finish does nothing.
func (in *input) finish() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	data, last := in.sink.closing()
	if !last && len(in.queue) >= InputQueueLimit {
		return ErrInputFull
	}
	in.closed = last
	in.push(message{data: data, last: last})
	return nil
}

// push needs in.mu.
func (in *input) push(m message) {
	in.queue = append(in.queue, m)
	if !in.writing {
		in.writing = true
		in.idle.Go(in.deliver)
	}
}

func (in *input) deliver() {
	for {
		m, ok := in.pop()
		if !ok {
			return
		}
		if err := in.sink.write(m.data); err != nil || m.last {
			in.discard() // a reader that went away is no failure of ours
		}
	}
}

func (in *input) pop() (message, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		in.writing = false
		return message{}, false
	}
	m := in.queue[0]
	in.queue = in.queue[1:]
	return m, true
}

// discard closes the input and throws away what is queued; a write under way ends.
func (in *input) discard() {
	in.mu.Lock()
	in.closed = true
	in.queue = nil
	in.mu.Unlock()
	in.sink.close()
}

func (in *input) isClosed() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.closed
}
