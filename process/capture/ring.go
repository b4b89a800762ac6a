package capture

// ring keeps the last bytes pushed. It allocates at the first byte.
type ring struct {
	buf  []byte
	next int // where the next byte goes
	full bool
}

// push adds p to a ring of the given capacity, which is the same at each call.
func (r *ring) push(p []byte, capacity int) {
	if len(p) == 0 || capacity == 0 {
		return
	}
	if r.buf == nil {
		r.buf = make([]byte, capacity)
	}
	if len(p) >= capacity {
		copy(r.buf, p[len(p)-capacity:])
		r.next, r.full = 0, true
		return
	}
	n := copy(r.buf[r.next:], p)
	if n < len(p) {
		copy(r.buf, p[n:])
	}
	r.full = r.full || r.next+len(p) >= capacity
	r.next = (r.next + len(p)) % capacity
}

func (r *ring) size() int {
	if r.full {
		return len(r.buf)
	}
	return r.next
}

// bytes is a copy, oldest first.
func (r *ring) bytes() []byte {
	out := make([]byte, 0, r.size())
	if r.full {
		out = append(out, r.buf[r.next:]...)
	}
	return append(out, r.buf[:r.next]...)
}
