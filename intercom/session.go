package intercom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// keepBuffer is the largest read buffer that is kept between messages.
const keepBuffer = 256 << 10

// session is the life of one connection: the reader is the caller's goroutine, writer,
// pinger and closer are its own.
type session struct {
	client *Client
	link   *link
	buf    bytes.Buffer
	lastPing,
	pingEvery time.Duration // of the peer, since start
	start time.Time
}

func newSession(c *Client, l *link) *session {
	return &session{client: c, link: l, start: time.Now()}
}

// serve reads until the connection ends and gives the reason; all goroutines are done.
func (s *session) serve(ctx context.Context) error {
	cfg := &s.client.cfg
	s.link.SetReadLimit(int64(cfg.MaxInbound))
	s.link.net.readWithin.Store(int64(cfg.IdleTimeout))
	s.link.SetPingHandler(s.onPing)

	alive, end := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.write(alive) })
	if cfg.IdleTimeout > 0 {
		group.Go(func() { s.ping(alive, cfg.IdleTimeout/2) })
	}
	over := make(chan struct{})
	group.Go(func() { s.farewell(ctx, alive, over) })
	err := s.read(ctx)
	close(over)
	end()
	_ = s.link.Close() // frees a writer that is stuck
	group.Wait()
	return err
}

// read hands over messages until the connection ends.
func (s *session) read(ctx context.Context) error {
	for {
		message, err := s.next()
		switch {
		case errors.Is(err, ErrBinary):
			return s.fail(websocket.CloseUnsupportedData, err)
		case err != nil:
			return disconnect(err, s.client.cfg.MaxInbound)
		case ctx.Err() != nil:
			continue // stopping: only the peer's close frame is awaited
		}
		if err := s.client.cfg.Handler(message); err != nil {
			return s.fail(websocket.ClosePolicyViolation, err)
		}
	}
}

// next reads one whole text message into memory of its own.
func (s *session) next() ([]byte, error) {
	kind, r, err := s.link.NextReader()
	if err != nil {
		return nil, err
	}
	if kind != websocket.TextMessage {
		return nil, ErrBinary
	}
	s.buf.Reset()
	if _, err := s.buf.ReadFrom(r); err != nil {
		return nil, err
	}
	message := bytes.Clone(s.buf.Bytes())
	if s.buf.Cap() > keepBuffer {
		s.buf = bytes.Buffer{}
	}
	return message, nil
}

// fail tells the peer why, in bounded time, and gives the fatal error.
func (s *session) fail(code int, err error) error {
	s.sendClose(code)
	return &FatalError{err}
}

// write takes frames while the connection lives. A frame that was taken is never written
// again, whatever becomes of it.
func (s *session) write(alive context.Context) {
	for {
		frame, err := s.client.queue.take(alive)
		if err != nil {
			return
		}
		err = s.link.WriteMessage(websocket.TextMessage, frame)
		s.client.queue.done(len(frame))
		if err != nil {
			if alive.Err() == nil {
				s.client.cfg.Logger.Warn("hub write failed", "bytes", len(frame), "error", err)
			}
			_ = s.link.Close() // ends the reader, too
			return
		}
	}
}

// ping asks the peer for a sign of life.
func (s *session) ping(alive context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-alive.Done():
			return
		case <-t.C:
			_ = s.link.WriteControl(websocket.PingMessage, nil, time.Now().Add(every))
		}
	}
}

// onPing answers a ping of the peer. A peer that pings shows at what interval it can be
// expected to; when it then falls silent, the link is dead even without an idle timeout
// of our own. It runs on the reader's goroutine.
func (s *session) onPing(payload string) error {
	now := time.Since(s.start)
	if s.lastPing > 0 {
		s.pingEvery = max(s.pingEvery, now-s.lastPing)
	}
	s.lastPing = now
	cfg := &s.client.cfg
	if cfg.IdleTimeout == 0 && s.pingEvery > 0 {
		s.link.net.readWithin.Store(int64(max(cfg.PeerSilence, 3*s.pingEvery)))
	}
	// A pong that finds the line busy may be left out; a broken line is the writer's to see.
	_ = s.link.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(closeTimeout))
	return nil
}

// farewell runs the close handshake when ctx ends before the connection does, and makes
// sure that the reader returns, over being closed then, whatever the peer goes on sending.
func (s *session) farewell(ctx, alive context.Context, over <-chan struct{}) {
	<-alive.Done()
	if ctx.Err() == nil {
		return
	}
	s.link.net.readWithin.Store(0)
	_ = s.link.net.SetReadDeadline(time.Now().Add(closeTimeout))
	s.sendClose(websocket.CloseNormalClosure)
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
		_ = s.link.Close()
	}
}

func (s *session) sendClose(code int) {
	message := websocket.FormatCloseMessage(code, "")
	_ = s.link.WriteControl(websocket.CloseMessage, message, time.Now().Add(closeTimeout))
}

// disconnect classifies the end of a connection on which limit bytes were read at most.
func disconnect(err error, limit int) error {
	if errors.Is(err, websocket.ErrReadLimit) {
		return &DisconnectError{websocket.CloseMessageTooBig, fmt.Errorf("%w: over %d bytes", ErrTooLarge, limit)}
	}
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return &DisconnectError{closed.Code, err}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &DisconnectError{0, io.ErrUnexpectedEOF}
	}
	return &DisconnectError{0, err}
}
