package client

import (
	"context"
	"fmt"
)

// maxNotes bounds the lines that wait for the server without anybody waiting for them,
// in bytes.
const maxNotes = 64 << 10

// write sends until the session is broken off, or a stream is, and says why.
func (s *Session) write() error {
	for {
		var line []byte
		select {
		case <-s.broken:
			return s.fault
		case line = <-s.calls:
		case <-s.noted:
			s.mu.Lock()
			line, s.notes = s.notes, nil
			s.mu.Unlock()
		}
		if _, err := s.cfg.Out.Write(line); err != nil {
			return fmt.Errorf("%w: write: %w", ErrLost, err)
		}
	}
}

// send hands a line to the writer, which sends it after all that were handed over
// before.
func (s *Session) send(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.calls <- line:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.broken:
		return s.fault
	}
}

// note leaves a line to be sent when there is time, and never waits. It tells whether
// there was room.
func (s *Session) note(line []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes)+len(line) > maxNotes {
		return false
	}
	s.notes = append(s.notes, line...)
	select {
	case s.noted <- struct{}{}:
	default: // the writer knows already
	}
	return true
}
