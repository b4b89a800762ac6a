package sse

import (
	"bytes"
	"errors"
	"io"
)

// MaxLine bounds one line, and the data of one event, in bytes (worker-data.md §6.2).
const MaxLine = 16 << 20

// ErrTooLong is a line or an event above MaxLine.
var ErrTooLong = errors.New("event stream line is longer than 16 MiB")

const firstBuffer = 8 << 10

// Event is one event. Data is valid until the next call of the Decoder.
type Event struct {
	Name string // "" unless the stream names it
	Data []byte
}

// Decoder reads events. It is for one goroutine.
type Decoder struct {
	r       io.Reader
	buf     []byte
	pos     int // first byte not given out
	scanned int // bytes from pos that hold no line end
	end     int
	err     error // what the reader ended with
	skipLF  bool  // the last line ended with CR: a LF right behind belongs to it
	begun   bool  // a byte order mark was looked for

	name string
	data []byte
}

// NewDecoder reads from r. It does not read ahead of the caller's calls beyond what
// one Read gives.
func NewDecoder(r io.Reader) *Decoder { return &Decoder{r: r} }

// Next gives the next event that has data. The clean end of the body is io.EOF; other
// errors are the reader's own, or ErrTooLong.
func (d *Decoder) Next() (Event, error) {
	d.name, d.data = "", d.data[:0]
	some := false
	for {
		line, err := d.line()
		if err != nil {
			if some && errors.Is(err, io.EOF) {
				return Event{d.name, d.data}, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if some {
				return Event{d.name, d.data}, nil
			}
			d.name = ""
			continue
		}
		isData, err := d.field(line, some)
		if err != nil {
			return Event{}, err
		}
		some = some || isData
	}
}

// field takes one line in and tells whether it was data.
func (d *Decoder) field(line []byte, more bool) (bool, error) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if len(d.data)+len(value) >= MaxLine {
			return false, ErrTooLong
		}
		if more {
			d.data = append(d.data, '\n')
		}
		d.data = append(d.data, value...)
		return true, nil
	case "event":
		d.name = string(value)
	}
	return false, nil
}

// First gives the first byte of the body that is no white space, without taking it.
func (d *Decoder) First() (byte, error) {
	for {
		d.skipMark()
		for d.begun && d.pos < d.end {
			if c := d.buf[d.pos]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
				return c, nil
			}
			d.pos++
		}
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
}

// Rest gives everything that is left, up to MaxLine bytes, as it is.
func (d *Decoder) Rest() ([]byte, error) {
	for {
		if d.end-d.pos > MaxLine {
			return nil, ErrTooLong
		}
		err := d.fill()
		if errors.Is(err, io.EOF) {
			rest := d.buf[d.pos:d.end]
			d.pos = d.end
			return rest, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line gives the next line without its end.
func (d *Decoder) line() ([]byte, error) {
	for {
		d.skipMark()
		if d.skipLF && d.pos < d.end {
			d.skipLF = false
			if d.buf[d.pos] == '\n' {
				d.pos++
			}
		}
		if line, ok := d.cut(); ok {
			return line, nil
		}
		if err := d.fill(); err != nil {
			return d.last(err)
		}
	}
}

// cut takes a whole line off the buffer.
func (d *Decoder) cut() ([]byte, bool) {
	if !d.begun {
		return nil, false
	}
	fresh := d.buf[d.pos+d.scanned : d.end]
	i := bytes.IndexByte(fresh, '\n')
	if i < 0 {
		i = len(fresh)
	}
	if cr := bytes.IndexByte(fresh[:i], '\r'); cr >= 0 {
		i, d.skipLF = cr, true
	}
	if i == len(fresh) {
		d.scanned = d.end - d.pos
		return nil, false
	}
	line := d.buf[d.pos : d.pos+d.scanned+i]
	d.pos += d.scanned + i + 1
	d.scanned = 0
	return line, true
}

// last gives what is left when the body has ended without a line end.
func (d *Decoder) last(err error) ([]byte, error) {
	if !errors.Is(err, io.EOF) || d.pos == d.end {
		return nil, err
	}
	line := d.buf[d.pos:d.end]
	d.pos, d.scanned = d.end, 0
	return line, nil
}

// skipMark drops a byte order mark at the start of the body, once enough is there to tell.
func (d *Decoder) skipMark() {
	if d.begun || d.end == 0 {
		return
	}
	mark := []byte("\xEF\xBB\xBF")
	head := d.buf[:d.end]
	if d.err == nil && len(head) < len(mark) && bytes.HasPrefix(mark, head) {
		return
	}
	d.begun = true
	if bytes.HasPrefix(head, mark) {
		d.pos = len(mark)
	}
}

// fill reads once more. It gives an error only when nothing new came.
func (d *Decoder) fill() error {
	if d.err != nil {
		if !d.begun && d.end > 0 {
			d.skipMark()
			return nil
		}
		return d.err
	}
	if d.scanned > MaxLine {
		return ErrTooLong
	}
	d.room()
	n, err := d.r.Read(d.buf[d.end:])
	d.end += n
	d.err = err
	if n > 0 {
		return nil
	}
	return err
}

// room makes space behind the bytes that are kept.
func (d *Decoder) room() {
	if d.pos == d.end {
		if d.begun {
			d.pos, d.end, d.scanned = 0, 0, 0
		}
	}
	if d.end < len(d.buf) {
		return
	}
	kept := d.buf[d.pos:d.end]
	next := d.buf
	if len(kept) > len(d.buf)/2 || d.buf == nil {
		next = make([]byte, max(firstBuffer, 2*len(d.buf)))
	}
	copy(next, kept)
	d.buf, d.pos, d.end = next, 0, len(kept)
}
