package capture

import (
	"bytes"
	"testing"
)

// Whatever bytes come in whatever pieces: what deltas show, with what they say is
// omitted, is the stream, and a full read shows its beginning and its end.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("plain text, longer than the budget"), uint8(3), uint8(10), uint8(4))
	f.Add([]byte("a\xe6\xbc\xa2\xff\xfe\x00\xf0\x9f\x99\x82b\xc3"), uint8(1), uint8(5), uint8(6))
	f.Add([]byte("\x80\x80\x80\x80\x80\xf0\xf0\xf0"), uint8(2), uint8(3), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, piece, budget, tail uint8) {
		c := New(uint64(budget)+1, uint64(tail), Stdout)
		var seen []byte
		delta := func() {
			out := c.Read(all, false)[0]
			seen = append(seen, out.Data...)
			if at := uint64(len(seen)); out.Omitted > 0 {
				seen = append(seen, data[at:at+out.Omitted]...)
			}
			seen = append(seen, out.Tail...)
			if !bytes.HasPrefix(data, seen) {
				t.Fatalf("deltas show %q of %q", seen, data)
			}
		}
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			c.Add(0, rest[:n])
			rest = rest[n:]
			delta()
		}
		c.End(0, false)
		delta()
		if left := len(data) - len(seen); left > 0 && tail > 0 {
			t.Fatalf("the end is missing %d bytes: %q of %q", left, seen, data)
		}
		full := c.Read(all, true)[0]
		if !bytes.HasPrefix(data, full.Data) || !bytes.HasSuffix(data, full.Tail) ||
			uint64(len(full.Data)+len(full.Tail))+full.Omitted != uint64(len(data)) {
			t.Fatalf("%q … %d … %q of %q", full.Data, full.Omitted, full.Tail, data)
		}
	})
}
