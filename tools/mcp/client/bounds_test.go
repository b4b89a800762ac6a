package client

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"log/slog"
	"testing"
)

// still is a session without streams, whose lines the test takes.
func still() *Session {
	return &Session{
		cfg:   Config{Logger: slog.New(slog.DiscardHandler)},
		calls: make(chan []byte), noted: make(chan struct{}, 1), pending: map[int64]chan reply{}, broken: make(chan struct{}),
	}
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	s := still()
	if !s.note(make([]byte, maxNotes-1)) || !s.note([]byte{'x'}) {
		t.Error("what fits is dropped")
	}
	if s.note([]byte{'x'}) || len(s.notes) != maxNotes {
		t.Errorf("%d bytes are kept", len(s.notes))
	}
}

// However a call ends, nothing of it is kept.
func TestNoCallIsKept(t *testing.T) {
	t.Parallel()
	s := still()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.call(gone, "m", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go func() {
		<-s.calls
		s.settle(&message{id: jsontext.Value("2"), result: jsontext.Value("{}")})
		<-s.calls
		s.settle(&message{id: jsontext.Value("3"), err: &Error{Code: 1}})
		<-s.calls
		s.fault = ErrLost
		close(s.broken)
	}()
	if raw, err := s.call(t.Context(), "m", nil); err != nil || string(raw) != "{}" {
		t.Errorf("%s, %v", raw, err)
	}
	if _, err := s.call(t.Context(), "m", nil); err == nil {
		t.Error("a refusal is lost")
	}
	for range 2 {
		if _, err := s.call(t.Context(), "m", nil); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
	}
	if len(s.pending) > 0 {
		t.Errorf("kept: %d", len(s.pending))
	}
}

// A server that answers twice holds up nobody.
func TestSecondAnswerIsDropped(t *testing.T) {
	t.Parallel()
	s := still()
	_, answered := s.expect()
	for _, raw := range []string{"1", "2"} {
		s.settle(&message{id: jsontext.Value("1"), result: jsontext.Value(raw)})
	}
	if r := <-answered; string(r.result) != "1" {
		t.Errorf("%s", r.result)
	}
}
