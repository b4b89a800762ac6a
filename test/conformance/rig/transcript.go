package rig

import (
	"context"
	"strings"
	"sync"
)

// Transcript keeps what a process writes and lets tests wait for it. Safe for concurrent
// use.
type Transcript struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func newTranscript() *Transcript { return &Transcript{changed: make(chan struct{})} }

// Write implements io.Writer.
func (s *Transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// String is the text so far.
func (s *Transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until ok is true of the text so far; false when over closes or ctx ends
// first.
func (s *Transcript) await(ctx context.Context, over <-chan struct{}, ok func(string) bool) bool {
	for {
		s.mu.Lock()
		text, changed := s.text.String(), s.changed
		s.mu.Unlock()
		if ok(text) {
			return true
		}
		select {
		case <-changed:
		case <-over:
			return ok(s.String())
		case <-ctx.Done():
			return false
		}
	}
}
