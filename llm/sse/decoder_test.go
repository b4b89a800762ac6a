package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type named struct{ Name, Data string }

func all(t *testing.T, r io.Reader) ([]named, error) {
	t.Helper()
	d := NewDecoder(r)
	var out []named
	for {
		e, err := d.Next()
		if err != nil {
			return out, err
		}
		out = append(out, named{e.Name, string(e.Data)})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want []named
	}{
		"plain":             {"data: a\n\ndata: b\n\n", []named{{"", "a"}, {"", "b"}}},
		"no space":          {"data:a\n\n", []named{{"", "a"}}},
		"one space only":    {"data:  a\n\n", []named{{"", " a"}}},
		"several lines":     {"data: a\ndata: b\n\n", []named{{"", "a\nb"}}},
		"CRLF":              {"data: a\r\n\r\ndata: b\r\n\r\n", []named{{"", "a"}, {"", "b"}}},
		"CR":                {"data: a\r\rdata: b\r\r", []named{{"", "a"}, {"", "b"}}},
		"comments":          {": processing\n\n: again\ndata: a\n: and again\n\n", []named{{"", "a"}}},
		"named":             {"event: ping\ndata: {}\n\ndata: a\n\n", []named{{"ping", "{}"}, {"", "a"}}},
		"name without data": {"event: ping\n\ndata: a\n\n", []named{{"", "a"}}},
		"byte order mark":   {"\xEF\xBB\xBFdata: a\n\n", []named{{"", "a"}}},
		"cut at the end":    {"data: a\n\ndata: b", []named{{"", "a"}, {"", "b"}}},
		"empty data":        {"data\n\n", []named{{"", ""}}},
		"unknown fields":    {"id: 4\nretry: 10\nfoo\ndata: a\n\n", []named{{"", "a"}}},
		"nothing":           {"", nil},
		"two bytes":         {"\xEF\xBB", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{
				strings.NewReader(test.body),
				iotest.OneByteReader(strings.NewReader(test.body)),
				iotest.DataErrReader(strings.NewReader(test.body)),
			} {
				got, err := all(t, r)
				if !errors.Is(err, io.EOF) {
					t.Fatalf("ended with %v", err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	got, err := all(t, strings.NewReader("data: "+long+"\n\ndata: b\n\n"))
	if !errors.Is(err, io.EOF) || len(got) != 2 || got[0].Data != long || got[1].Data != "b" {
		t.Fatalf("%d events, %v", len(got), err)
	}
	endless := io.MultiReader(strings.NewReader("data: "), bytes.NewReader(make([]byte, MaxLine+1)))
	if _, err := all(t, endless); !errors.Is(err, ErrTooLong) {
		t.Errorf("a line above the limit: %v", err)
	}
	lines := strings.Repeat("data: "+strings.Repeat("y", 1<<20)+"\n", 17)
	if _, err := all(t, strings.NewReader(lines)); !errors.Is(err, ErrTooLong) {
		t.Errorf("an event above the limit: %v", err)
	}
}

func TestReadErrorIsKept(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	got, err := all(t, io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%v, %v: half an event before a fault is no event", got, err)
	}
}

func TestPlainBody(t *testing.T) {
	t.Parallel()
	d := NewDecoder(iotest.OneByteReader(strings.NewReader("\xEF\xBB\xBF \r\n{\"error\":1}\n")))
	if c, err := d.First(); c != '{' || err != nil {
		t.Fatalf("%q %v", c, err)
	}
	if rest, err := d.Rest(); string(rest) != "{\"error\":1}\n" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	if _, err := NewDecoder(strings.NewReader(" \n")).First(); !errors.Is(err, io.EOF) {
		t.Errorf("an empty body: %v", err)
	}
}

// FuzzDecoder checks that however the body is cut into reads, the events are the same.
func FuzzDecoder(f *testing.F) {
	f.Add("data: a\r\n\r\n: c\rdata: b\n\n", 3)
	f.Add("\xEF\xBB\xBFevent: x\ndata\n\r\n\r", 1)
	f.Fuzz(func(t *testing.T, body string, size int) {
		whole, _ := all(t, strings.NewReader(body))
		cut, _ := all(t, &pieces{[]byte(body), max(1, size%7)})
		if diff := cmp.Diff(whole, cut); diff != "" {
			t.Error(diff)
		}
	})
}

type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}
