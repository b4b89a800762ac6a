package client

import (
	"bytes"
	"errors"
	"fmt"
)

// read takes messages until the stream ends or breaks the protocol, and says why.
func (s *Session) read() error {
	lines := newLineReader(s.cfg.In, s.cfg.MaxMessageBytes)
	for {
		line, err := lines.next()
		if err == nil {
			if err := s.take(line); err != nil {
				return err
			}
			continue
		}
		if len(line) > 0 {
			_ = s.take(line) // the last line may lack its end; if it lacks more, the stream's end is the reason
		}
		if errors.Is(err, ErrProtocol) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
}

// take handles the messages of one line.
func (s *Session) take(line []byte) error {
	var out [][]byte
	for m, err := range messages(line) {
		switch {
		case err != nil:
			return err
		case m.wantsAnswer():
			out = append(out, answer(m.id, m.method))
		case m.called: // a notification: the list of tools stays that of the start, and nothing else matters
		default:
			s.settle(&m)
		}
	}
	if len(out) == 0 {
		return nil
	}
	array := bytes.HasPrefix(bytes.TrimLeft(line, " \t\r"), []byte{'['})
	if !s.note(answers(out, array)) {
		s.cfg.Logger.Debug("the server takes no answers; some are dropped", "requests", len(out))
	}
	return nil
}

// settle hands an answer to whoever waits for it, if somebody does.
func (s *Session) settle(m *message) {
	id := m.number()
	s.mu.Lock()
	waiting := s.pending[id]
	delete(s.pending, id)
	s.mu.Unlock()
	if waiting == nil {
		s.cfg.Logger.Debug("the server answers what nobody waits for")
		return
	}
	r := reply{result: m.result}
	if m.err != nil {
		r = reply{err: m.err}
	}
	waiting <- r // has room: it is sent to once
}
