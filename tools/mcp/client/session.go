package client

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// DefaultMaxMessage is what a Config without a limit takes.
const DefaultMaxMessage = 16 << 20

// Config of a Session.
type Config struct {
	In  io.ReadCloser  // from the server; Close must end a Read
	Out io.WriteCloser // to the server; Close must end a Write, whose error ends the session
	// Version of this program, told to the server.
	Version string
	// MaxMessageBytes bounds one message of the server; a larger one ends the session.
	// 0 is DefaultMaxMessage.
	MaxMessageBytes int
	Logger          *slog.Logger // nil discards
}

// Session is a conversation with one server. Its methods may be called at once.
type Session struct {
	cfg   Config
	calls chan []byte   // lines for the writer, each taken when it can be written
	noted chan struct{} // tells the writer of notes

	mu      sync.Mutex
	lastID  int64
	pending map[int64]chan reply
	notes   []byte // lines that nobody waits for

	ending sync.Once
	fault  error         // why the session ended; after broken
	broken chan struct{} // closed first: nothing more is sent or answered
	over   chan struct{} // closed last: both goroutines have ended
}

// reply is what a call gets.
type reply struct {
	result jsontext.Value
	err    error
}

// Connect makes a session of the streams, which it owns from then on, and shakes hands.
// On failure everything is closed; otherwise the session must be, by Close.
func Connect(ctx context.Context, cfg Config) (*Session, error) {
	if cfg.MaxMessageBytes == 0 {
		cfg.MaxMessageBytes = DefaultMaxMessage
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Session{
		cfg: cfg, calls: make(chan []byte), noted: make(chan struct{}, 1), pending: map[int64]chan reply{},
		broken: make(chan struct{}), over: make(chan struct{}),
	}
	go s.run()
	if err := s.initialize(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.over }

// Err waits for the end of the session and tells its reason: ErrLost or ErrProtocol.
func (s *Session) Err() error {
	<-s.over
	return s.fault
}

// Close ends the session, fails the calls under way and waits for its goroutines. It
// may be called again.
func (s *Session) Close() {
	s.end(fmt.Errorf("%w: it was closed", ErrLost))
	<-s.over
}

// end breaks the session off, for the first reason that is given.
func (s *Session) end(why error) {
	s.ending.Do(func() {
		s.fault = why
		close(s.broken)
		_ = s.cfg.In.Close()
		_ = s.cfg.Out.Close()
	})
}

// run reads, with the writer at its side.
func (s *Session) run() {
	defer close(s.over)
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.end(s.write())
	}()
	s.end(s.read())
	<-written
}
