package capture

import (
	"sync"
	"unicode/utf8"

	"simplex/internal/text"
)

// Stream names one output of a process.
type Stream string

// The streams: two with pipes, one merged with a terminal. Both is a wish only.
const (
	Stdout   Stream = "stdout"
	Stderr   Stream = "stderr"
	Terminal Stream = "output"
	Both     Stream = "both"
)

// Output is what one read of one stream yields. Bytes are raw.
//
// Data ends before an incomplete UTF-8 sequence that more output may complete;
// the sequence comes with the next read, or as it is once the stream has ended.
type Output struct {
	Stream Stream
	Data   []byte // from the retained prefix
	// Truncated: the stream lost bytes beyond the budget, or was cut off while
	// a writer still had it open. Once true it stays true.
	Truncated bool
	// Tail has the newest bytes of a stream that outran the budget, none of
	// which is in Data or, in a delta read, was shown by an earlier delta read.
	Tail []byte
	// Omitted counts the bytes between Data (or what earlier delta reads
	// showed) and Tail.
	Omitted uint64
	Cursor  uint64 // delta cursor in the retained prefix, raw bytes
	Ended   bool   // end of file, or cut off
}

// Buffer keeps the output of one process: a prefix of each stream under one
// shared budget, and a rolling tail of each stream that outran it (tools.md
// §4.6, §8.5–8.7). Which stream gets how much of the budget depends on the
// order of arrival. Safe for concurrent use.
type Buffer struct {
	mu       sync.Mutex
	budget   uint64 // bytes left to keep; reads never give back
	bounded  bool
	tailSize int
	streams  []stream
}

type stream struct {
	name   Stream
	blocks [][]byte
	kept   uint64 // bytes in blocks: the prefix
	total  uint64 // bytes seen
	tail   ring
	cursor uint64 // raw position after the last delta read
	cut    bool
	ended  bool
}

// New makes a buffer for the named streams. budget is the number of bytes to keep of all
// together, 0 = unlimited; tail, in bytes, is for each stream that outran it, 0 = none.
func New(budget, tail uint64, names ...Stream) *Buffer {
	c := &Buffer{budget: budget, bounded: budget > 0, tailSize: int(min(tail, 1<<30))}
	for _, name := range names {
		c.streams = append(c.streams, stream{name: name})
	}
	return c
}

// Add takes over the bytes of p that fit and remembers the loss of the rest. Streams
// are counted from 0 in the order of New.
func (c *Buffer) Add(index int, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &c.streams[index]
	room := len(p)
	if c.bounded {
		room = int(min(uint64(room), c.budget))
		c.budget -= uint64(room)
	}
	st.keep(p[:room])
	st.total += uint64(len(p))
	st.tail.push(p[room:], c.tailSize)
}

// End marks a stream as over; cut tells that its writers were not done.
func (c *Buffer) End(index int, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &c.streams[index]
	st.ended = true
	st.cut = st.cut || cut
}

// Complete tells whether every stream has ended.
func (c *Buffer) Complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.streams {
		if !c.streams[i].ended {
			return false
		}
	}
	return true
}

// Read gives the wanted streams at one instant. A full read starts at the
// beginning and moves no cursor.
func (c *Buffer) Read(want func(Stream) bool, full bool) []Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Output
	for i := range c.streams {
		if st := &c.streams[i]; want(st.name) {
			out = append(out, st.read(full))
		}
	}
	return out
}

// Block sizes grow with the stream, so that a short output costs little and a
// long one few allocations; the last block's waste is at most blockMax.
const (
	blockMin = 1 << 10
	blockMax = 32 << 10
)

func (st *stream) keep(p []byte) {
	for len(p) > 0 {
		last := len(st.blocks) - 1
		if last < 0 || len(st.blocks[last]) == cap(st.blocks[last]) {
			size := max(blockMin, min(blockMax, max(int(min(st.kept, blockMax)), len(p))))
			st.blocks = append(st.blocks, make([]byte, 0, size))
			last++
		}
		block := st.blocks[last]
		n := min(len(p), cap(block)-len(block))
		st.blocks[last] = append(block, p[:n]...)
		st.kept += uint64(n)
		p = p[n:]
	}
}

// prefix copies the kept bytes [from, to).
func (st *stream) prefix(from, to uint64) []byte {
	if from >= to {
		return nil
	}
	out := make([]byte, 0, to-from)
	var at uint64
	for _, block := range st.blocks {
		end := at + uint64(len(block))
		if end > from && at < to {
			out = append(out, block[max(from, at)-at:min(to, end)-at]...)
		}
		at = end
	}
	return out
}

func (st *stream) read(full bool) Output {
	var from uint64
	if !full {
		from = st.cursor
	}
	lost := st.total > st.kept
	end := st.kept
	if lost || !st.ended {
		end -= uint64(incomplete(st.prefix(end-min(end, utf8.UTFMax-1), end)))
	}
	out := Output{Stream: st.name, Truncated: lost || st.cut, Ended: st.ended}
	out.Data = st.prefix(min(from, end), end)
	next := max(from, end)
	if lost {
		var start uint64
		out.Tail, start = st.readTail(next, end)
		out.Omitted = start - next
		next = start + uint64(len(out.Tail))
	}
	if !full {
		st.cursor = next
	}
	out.Cursor = min(st.cursor, st.kept)
	return out
}

// readTail returns the tail from raw position from on, and its own position.
// end is where the shown prefix ends; the bytes of a character that the budget
// cut in two come with the tail if nothing is missing between.
func (st *stream) readTail(from, end uint64) (tail []byte, start uint64) {
	start = st.total - uint64(st.tail.size())
	tail = st.tail.bytes()
	if start == st.kept {
		tail = append(st.prefix(end, st.kept), tail...)
		start = end
	}
	if start < from {
		tail, start = tail[from-start:], from
	}
	if start > from { // a gap: do not begin inside a character
		skip := 0
		for skip < len(tail) && skip < utf8.UTFMax-1 && !utf8.RuneStart(tail[skip]) {
			skip++
		}
		tail, start = tail[skip:], start+uint64(skip)
	}
	if !st.ended {
		tail = tail[:len(tail)-incomplete(tail)]
	}
	return tail, start
}

// incomplete counts the bytes at the end of p that begin a UTF-8 sequence and
// do not finish it.
func incomplete(p []byte) int {
	_, held := text.SplitTail(p)
	return len(held)
}
