package post

import (
	"bytes"
	"io"
	"sync"
)

// Body is a request body in segments. It must not change while Do runs.
type Body [][]byte

// Len is the body's size in bytes.
func (b Body) Len() int64 {
	var n int64
	for _, seg := range b {
		n += int64(len(seg))
	}
	return n
}

// sender hands a Body to one or more readers and can take it back: the transport may
// go on reading after it has returned, and the segments belong to the caller then.
type sender struct {
	mu   sync.Mutex
	body Body
	gone bool
}

func (s *sender) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.body = true, nil
}

// smallBody is what is copied rather than shared: net/http sends the headers of a body
// that it knows to be in memory together with it, which spares a packet and the wait of
// the server for the second one.
const smallBody = 64 << 10

func (s *sender) open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body.Len() <= smallBody {
		return io.NopCloser(bytes.NewReader(bytes.Join(s.body, nil))), nil
	}
	return &reader{from: s}, nil
}

type reader struct {
	from *sender
	seg  int
	off  int
}

// Read copies under the lock, so that take waits for a copy that is going on.
func (r *reader) Read(p []byte) (int, error) {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	if r.from.gone {
		return 0, io.ErrClosedPipe
	}
	n := 0
	for r.seg < len(r.from.body) && n < len(p) {
		seg := r.from.body[r.seg]
		c := copy(p[n:], seg[r.off:])
		n += c
		if r.off += c; r.off == len(seg) {
			r.seg, r.off = r.seg+1, 0
		}
	}
	if n == 0 && r.seg == len(r.from.body) {
		return 0, io.EOF
	}
	return n, nil
}

func (r *reader) Close() error { return nil }
