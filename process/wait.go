package process

import "context"

// WaitAny returns nil as soon as one of the sessions is complete (exited and
// drained), at once if there is none to wait for, and ctx's error at its end.
func (st *Store) WaitAny(ctx context.Context, sessions []*Session) error {
	if len(sessions) == 0 {
		return nil
	}
	done := make(chan struct{}, 1)
	for _, s := range sessions {
		if !s.subscribe(done) {
			return nil
		}
		defer s.unsubscribe(done)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// subscribe has done notified at completeness; false = complete already.
func (s *Session) subscribe(done chan<- struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == 0 {
		return false
	}
	if s.watchers == nil {
		s.watchers = make(map[chan<- struct{}]struct{})
	}
	s.watchers[done] = struct{}{}
	return true
}

func (s *Session) unsubscribe(done chan<- struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, done)
}
