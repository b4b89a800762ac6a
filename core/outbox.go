package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"simplex/wire"
)

// errOutboxFull says that an event which must not be lost could not be admitted.
var errOutboxFull = errors.New("outbox full")

// class decides what happens to an event under pressure (wire.md §7).
type class int

const (
	lifecycle class = iota // reserved slots; refusal is an explicit failure
	metadata               // one slot a kind; a queued one is replaced in place
	preview                // left out and counted under pressure
	query                  // likewise
	feedback               // likewise
	delta                  // best effort: joined, never counted, first to give way
	classes
)

// entry is one admitted event: its sequence is fixed, its bytes are final unless it is
// replaced while it waits.
type entry struct {
	class class
	slot  string // metadata only: the kind it is the latest value of
	seq   uint64
	frame []byte
	piece wire.ModelDelta // of a delta
}

// omissions counts what pressure left out since the last settlement.
type omissions struct {
	Display, Query, Feedback, Coalesced uint64
}

// outbox holds events in the order of their sequence until the sender takes them.
// All methods are safe for concurrent use.
type outbox struct {
	capacity  int        // ordinary events
	transport func() int // bytes handed to the transport and not yet written

	mu      sync.Mutex
	queue   []*entry
	count   [classes]int
	bytes   int
	seq     uint64
	omitted omissions
	wake    chan struct{} // closed and replaced when the queue changes
	taken   int           // bytes of the event between next and done
}

func newOutbox(capacity int, transport func() int) *outbox {
	return &outbox{capacity: capacity, transport: transport, wake: make(chan struct{})}
}

// publish admits an event. Only a lifecycle event that finds no room is an error; a
// shed event of another class is counted. The slot names the kind of a metadata event.
func (o *outbox) publish(c class, slot string, e wire.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c == metadata && o.replace(slot, e) {
		return nil
	}
	e.Sequence = o.seq + 1
	frame := wire.AppendEvent(make([]byte, 0, wire.EventSize(&e)), &e)
	if len(frame) > wire.MaxEvent || !o.fits(c, len(frame)) {
		return o.refuse(c, e.Name, len(frame))
	}
	o.seq++
	o.push(&entry{class: c, slot: slot, seq: o.seq, frame: frame})
	return nil
}

// offer admits a piece of an answer as a model_delta, joined to the last event where that
// is one of the same kind which still waits. It gives way as soon as half of the ordinary
// room is taken: false.
func (o *outbox) offer(e wire.Event, d wire.ModelDelta) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := o.last(); last != nil && last.class == delta && last.piece.Kind == d.Kind && len(last.piece.Text)+len(d.Text) <= maxDelta {
		last.piece.Text += d.Text
		grown := last.frame
		last.frame = frameOf(e, last.seq, last.piece)
		o.bytes += len(last.frame) - len(grown)
		return true
	}
	frame := frameOf(e, o.seq+1, d)
	if len(frame) > wire.MaxEvent || 2*(o.ordinary()+1) > o.capacity || 2*(o.held()+len(frame)) > wire.OutboxHeadroom {
		return false
	}
	o.seq++
	o.push(&entry{class: delta, seq: o.seq, piece: d, frame: frame})
	return true
}

func (o *outbox) last() *entry {
	if len(o.queue) == 0 {
		return nil
	}
	return o.queue[len(o.queue)-1]
}

func frameOf(e wire.Event, seq uint64, d wire.ModelDelta) []byte {
	e.Sequence = seq
	e.Data, _ = wire.EncodeData(d)
	return wire.AppendEvent(nil, &e)
}

// replace puts newer data into a queued event of the same kind, which keeps its
// sequence and its place.
func (o *outbox) replace(slot string, newer wire.Event) bool {
	for _, e := range o.queue {
		if e.class != metadata || e.slot != slot {
			continue
		}
		newer.Sequence = e.seq
		frame := wire.AppendEvent(nil, &newer)
		grown := len(frame) - len(e.frame)
		if len(frame) > wire.MaxEvent || o.held()+grown > wire.OutboxBytes {
			return false
		}
		o.bytes += grown
		e.frame = frame
		o.omitted.Coalesced++
		return true
	}
	return false
}

func (o *outbox) fits(c class, size int) bool {
	total := o.held() + size
	switch c {
	case lifecycle:
		return o.count[lifecycle] < wire.LifecycleSlots && total <= wire.OutboxBytes
	case metadata:
		return total <= wire.OutboxBytes
	default:
		return o.ordinary() < o.capacity && total <= wire.OutboxHeadroom
	}
}

// held is what counts against the bounds: waiting, on its way, and in the transport.
func (o *outbox) held() int { return o.bytes + o.taken + o.transport() }

func (o *outbox) ordinary() int {
	return o.count[preview] + o.count[query] + o.count[feedback] + o.count[delta]
}

func (o *outbox) refuse(c class, name wire.EventName, size int) error {
	switch c {
	case preview:
		o.omitted.Display++
	case query:
		o.omitted.Query++
	case feedback:
		o.omitted.Feedback++
	case metadata:
		o.omitted.Coalesced++
	default:
		return fmt.Errorf("event %s of %d bytes: %w", name, size, errOutboxFull)
	}
	return nil
}

func (o *outbox) push(e *entry) {
	o.queue = append(o.queue, e)
	o.count[e.class]++
	o.bytes += len(e.frame)
	o.changed()
}

func (o *outbox) changed() {
	close(o.wake)
	o.wake = make(chan struct{})
}

// next waits for the oldest event and takes it. The one sender must call done once the
// transport has it or has refused it; until then the backlog counts as not drained.
func (o *outbox) next(ctx context.Context) ([]byte, error) {
	for {
		o.mu.Lock()
		if len(o.queue) > 0 {
			e := o.queue[0]
			o.queue[0] = nil
			o.queue = o.queue[1:]
			o.count[e.class]--
			o.bytes -= len(e.frame)
			o.taken = len(e.frame)
			o.mu.Unlock()
			return e.frame, nil
		}
		wake := o.wake
		o.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// done ends what next began.
func (o *outbox) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken = 0
	o.changed()
}

// drained waits until every event admitted so far went to the transport.
func (o *outbox) drained(ctx context.Context) error {
	for {
		o.mu.Lock()
		empty, wake := len(o.queue) == 0 && o.taken == 0, o.wake
		o.mu.Unlock()
		if empty {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// load says how many events wait and how many bytes they hold.
func (o *outbox) load() (count, bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue), o.bytes
}

// settle gives what was left out since the last settlement and starts anew.
func (o *outbox) settle() omissions {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.omitted
	o.omitted = omissions{}
	return out
}
