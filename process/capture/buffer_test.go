package capture

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func all(Stream) bool { return true }

func TestBudgetIsSharedAndLossIsPerStream(t *testing.T) {
	c := New(10, 4, Stdout, Stderr)
	c.Add(0, []byte("123456"))
	c.Add(1, []byte("abcd")) // fills the budget exactly: no loss
	got := c.Read(all, true)
	if got[0].Truncated || got[1].Truncated {
		t.Fatalf("exactly full is not loss: %+v", got)
	}
	c.Add(1, []byte("efghij"))
	got = c.Read(all, true)
	if got[0].Truncated {
		t.Errorf("stdout lost nothing, yet: %+v", got[0])
	}
	want := Output{Stream: Stderr, Data: []byte("abcd"), Truncated: true, Tail: []byte("ghij"), Omitted: 2}
	if !same(got[1], want) {
		t.Errorf("stderr: got %+v, want %+v", got[1], want)
	}
}

func TestDeltaReadsNeverRepeat(t *testing.T) {
	c := New(4, 3, Stdout)
	delta := func() Output { return c.Read(all, false)[0] }
	c.Add(0, []byte("ab"))
	steps := []struct {
		add  string
		want Output
	}{
		{"", Output{Data: []byte("ab"), Cursor: 2}},
		{"cde", Output{Data: []byte("cd"), Tail: []byte("e"), Cursor: 4, Truncated: true}},
		{"f", Output{Tail: []byte("f"), Cursor: 4, Truncated: true}},
		{"", Output{Cursor: 4, Truncated: true}},
		{"ghijk", Output{Tail: []byte("ijk"), Omitted: 2, Cursor: 4, Truncated: true}},
	}
	for i, step := range steps {
		c.Add(0, []byte(step.add))
		step.want.Stream = Stdout
		if got := delta(); !same(got, step.want) {
			t.Errorf("delta %d: got %+v, want %+v", i, got, step.want)
		}
	}
	full := Output{Stream: Stdout, Data: []byte("abcd"), Tail: []byte("ijk"), Omitted: 4, Cursor: 4, Truncated: true}
	if got := c.Read(all, true)[0]; !same(got, full) {
		t.Errorf("full after deltas: got %+v, want %+v", got, full)
	}
}

// BR-008: no cut falls inside a character, wherever the budget ends.
func TestCutsKeepCharactersWhole(t *testing.T) {
	text := strings.Repeat("a", 30) + "漢字漢字é🙂" + strings.Repeat("é", 20)
	for budget := uint64(28); budget < 52; budget++ {
		for tail := uint64(0); tail < 30; tail++ {
			c := New(budget, tail, Stdout)
			for _, b := range []byte(text) {
				c.Add(0, []byte{b})
				got := c.Read(all, true)[0]
				if !utf8.Valid(got.Data) || !utf8.Valid(got.Tail) {
					t.Fatalf("budget %d, tail %d: %q … %q", budget, tail, got.Data, got.Tail)
				}
			}
			c.End(0, false)
			got := c.Read(all, true)[0]
			if n := uint64(len(got.Data)+len(got.Tail)) + got.Omitted; n != uint64(len(text)) {
				t.Fatalf("budget %d, tail %d: %d of %d bytes accounted for", budget, tail, n, len(text))
			}
			if !strings.HasSuffix(text, string(got.Tail)) || !strings.HasPrefix(text, string(got.Data)) {
				t.Fatalf("budget %d, tail %d: %q … %q", budget, tail, got.Data, got.Tail)
			}
		}
	}
}

func TestIncompleteSequenceComesWithTheEnd(t *testing.T) {
	c := New(0, 0, Stdout)
	c.Add(0, []byte("x\xe6\xbc"))
	if got := c.Read(all, false)[0]; string(got.Data) != "x" || got.Cursor != 1 {
		t.Errorf("before the end: %+v", got)
	}
	c.End(0, false)
	if got := c.Read(all, false)[0]; string(got.Data) != "\xe6\xbc" || got.Cursor != 3 {
		t.Errorf("after the end: %+v", got)
	}
}

// Whatever is written and read in whatever order: deltas joined are the
// stream, less what they say was omitted, and memory stays bounded.
func TestCaptureAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Uint64Range(1, 5000).Draw(t, "budget")
		tail := rapid.Uint64Range(0, 600).Draw(t, "tail")
		c := New(budget, tail, Stdout, Stderr)
		var written, seen [2][]byte
		var kept [2]uint64
		left := budget
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "stream")
				p := []byte(rapid.StringN(0, 900, -1).Draw(t, "text"))
				p = p[:rapid.IntRange(0, len(p)).Draw(t, "cut")]
				written[i] = append(written[i], p...)
				n := min(left, uint64(len(p)))
				kept[i], left = kept[i]+n, left-n
				c.Add(i, p)
			},
			"delta": func(t *rapid.T) {
				for i, out := range c.Read(all, false) {
					if n := out.Omitted; n > 0 {
						at := uint64(len(seen[i]) + len(out.Data))
						out.Data = append(out.Data, written[i][at:at+n]...)
					}
					seen[i] = append(append(seen[i], out.Data...), out.Tail...)
				}
			},
			"": func(t *rapid.T) {
				for i, out := range c.Read(all, true) {
					if !bytes.HasPrefix(written[i], seen[i]) {
						t.Fatalf("stream %d: deltas are not the stream", i)
					}
					if lost := uint64(len(written[i])) > kept[i]; out.Truncated != lost {
						t.Fatalf("stream %d: truncated %v, lost %v", i, out.Truncated, lost)
					}
					if uint64(len(out.Data)) > kept[i] || !bytes.HasPrefix(written[i], out.Data) {
						t.Fatalf("stream %d: prefix", i)
					}
					size := 0
					for _, block := range c.streams[i].blocks {
						size += cap(block)
					}
					if size > int(kept[i])+blockMax {
						t.Fatalf("stream %d: %d bytes allocated for %d kept", i, size, kept[i])
					}
				}
			},
		})
	})
}

func same(a, b Output) bool {
	return a.Stream == b.Stream && bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Tail, b.Tail) &&
		a.Truncated == b.Truncated && a.Omitted == b.Omitted && a.Cursor == b.Cursor || (b.Cursor == 0 &&
		a.Stream == b.Stream && bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Tail, b.Tail) &&
		a.Truncated == b.Truncated && a.Omitted == b.Omitted)
}
