package client

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
)

// call sends a request and waits for its answer, the end of ctx or of the session. The
// error is an *Error, that of ctx, ErrLost or ErrProtocol.
func (s *Session) call(ctx context.Context, method string, params []byte) (jsontext.Value, error) {
	id, answered := s.expect()
	defer s.forget(id)
	if err := s.send(ctx, request(id, method, params)); err != nil {
		return nil, err
	}
	var why error
	select {
	case r := <-answered:
		return r.result, r.err
	case <-s.broken:
		why = s.fault
	case <-ctx.Done():
		why = ctx.Err()
	}
	s.forget(id)
	select {
	case r := <-answered: // it came at the same moment
		return r.result, r.err
	default:
	}
	if ctx.Err() != nil && method != methodInitialize { // which may not be cancelled
		s.note(cancelled(id, context.Cause(ctx).Error()))
	}
	return nil, why
}

// ask is call with the result decoded.
func (s *Session) ask(ctx context.Context, method string, params []byte, out any) (size int, err error) {
	raw, err := s.call(ctx, method, params)
	if err != nil {
		return 0, err
	}
	if raw == nil {
		return 0, fmt.Errorf("the answer to %s has neither a result nor an error", method)
	}
	if err := unmarshal(raw, out); err != nil {
		return 0, fmt.Errorf("the answer to %s: %w", method, err)
	}
	return len(raw), nil
}

// expect opens an account for an answer.
func (s *Session) expect() (id int64, answered <-chan reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	account := make(chan reply, 1)
	s.pending[s.lastID] = account
	return s.lastID, account
}

func (s *Session) forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}
