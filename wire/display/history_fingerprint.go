package display

import (
	"sync"
	"weak"

	"simplex/state"
	"simplex/wire"
)

// fingerprintsKept bounds the memory of Fingerprints to some tens of KiB.
const fingerprintsKept = 256

// Fingerprints remembers the fingerprints of answers, so that one of many megabytes is read
// once and not once a page. Records are immutable, so a message identifies its answer; it
// is not kept alive by being remembered. The zero value is ready, nil remembers nothing.
// Safe for concurrent use.
type Fingerprints struct {
	mu    sync.Mutex
	known map[weak.Pointer[state.Message]]string
	ring  []weak.Pointer[state.Message]
	next  int
}

// Of is the fingerprint of the message's content.
func (f *Fingerprints) Of(m *state.Message) string {
	if f == nil {
		return Fingerprint(m.Content)
	}
	key := weak.Make(m)
	f.mu.Lock()
	print, ok := f.known[key]
	f.mu.Unlock()
	if !ok {
		print = Fingerprint(m.Content) // unlocked: another goroutine may do it, too
		f.remember(key, print)
	}
	return print
}

// remember adds an entry; the oldest goes when there are enough.
func (f *Fingerprints) remember(key weak.Pointer[state.Message], print string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.known[key]; ok {
		return
	}
	if f.known == nil {
		f.known = make(map[weak.Pointer[state.Message]]string, fingerprintsKept)
	}
	f.known[key] = print
	if len(f.ring) < fingerprintsKept {
		f.ring = append(f.ring, key)
		return
	}
	delete(f.known, f.ring[f.next])
	f.ring[f.next] = key
	f.next = (f.next + 1) % fingerprintsKept
}

// Source is the package's Source by way of the memory.
func (f *Fingerprints) Source(workerID string, turn, step uint64, s *state.Step) wire.AnswerSource {
	return wire.AnswerSource{
		WorkerID: workerID, Turn: turn, Step: step,
		CommitSequence: wire.Sequence(s.CommitSequence), Fingerprint: f.Of(s.ModelResponse),
	}
}
