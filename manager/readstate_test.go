package manager

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"simplex/manager/protocol"
)

func TestReadState(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	state := filepath.Join(p.directory("a"), "state")
	read := func() string {
		t.Helper()
		raw, failure := answerOf(p.m, p.request(protocol.ReadState, "a"))
		if failure != nil {
			t.Fatal(failure)
		}
		if bytes.Contains(raw, []byte("\n")) {
			t.Errorf("more than one line: %q", raw)
		}
		return string(raw)
	}
	if got := read(); got != `{"backend":"json","state":null,"readable":null}` {
		t.Errorf("nothing there: %s", got)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("reading made the state directory")
	}
	p.write(filepath.Join(state, "state.json"), "\ufeff{\n  \"n\": 9007199254740993, \"f\": 1.10, \"e\": 1E+400, \"unknown\": {\"s\": \"a \\u00e9\\/ \u2028\"},\r\n\t\"l\": [ ]\n}\n")
	want := `{"backend":"json","state":{"n":9007199254740993,"f":1.10,"e":1E+400,"unknown":{"s":"a \u00e9\/ ` + "\u2028" + `"},"l":[]},"readable":null}`
	if got := read(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	p.write(filepath.Join(state, "readable.md"), "\ufeff# T\x00itle \"x\" \\\n\ttab é\r\n")
	if got := read(); !strings.HasSuffix(got, `,"readable":"# T\u0000itle \"x\" \\\n\ttab é\r\n"}`) {
		t.Errorf("%s", got)
	}
	for name, text := range map[string]string{
		"empty": "", "list": "[]", "text": `"x"`, "cut": `{"a":[1,2`, "twice": `{"a":1,"b":2,"a":3}`, "twice by escape": `{"a":1,"\u0061":2}`,
		"twice inside": `{"o":[{"x":{"k":1,"k":2}}]}`, "trailing": `{} x`, "two": `{}{}`, "not UTF-8": "{\"a\":\"\xff\"}", "cut code point": "{\"a\":\"\xe2\x82\"}",
		"overlong": "{\"a\":\"\xc0\xaf\"}", "surrogate bytes": "{\"a\":\"\xed\xa0\x80\"}", "lone surrogate": `{"a":"\ud800"}`, "control": "{\"a\":\"\x01\"}",
		"two marks": "\ufeff\ufeff{}", "half a mark": "\xef\xbb{}", "deep": strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001), "comment": "{} // x",
	} {
		p.write(filepath.Join(state, "state.json"), text)
		p.refused(p.request(protocol.ReadState, "a"), protocol.StateCorrupt)
		if t.Failed() {
			t.Fatalf("at %s", name)
		}
	}
	p.write(filepath.Join(state, "state.json"), "{}")
	p.write(filepath.Join(state, "readable.md"), "\xff "+secret)
	p.refused(p.request(protocol.ReadState, "a"), protocol.StateCorrupt)
	if err := os.Remove(filepath.Join(state, "readable.md")); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(state, "readable.md"), "")
	if got := read(); got != `{"backend":"json","state":{},"readable":""}` {
		t.Errorf("%s", got)
	}
}

func TestReadStateElsewhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	req := p.prepareRequest("a")
	req.Configuration = new("persistence: {state: deep/er/st, memory: m}\n")
	p.must(req)
	p.write(filepath.Join(p.directory("a"), "deep/er/st/state.json"), `{"x":1}`)
	if got := p.must(p.request(protocol.ReadState, "a")); string(got["state"]) != `{"x":1}` {
		t.Errorf("%v", got)
	}
	req = p.prepareRequest("s")
	req.Configuration = new("persistence: {format: sqlite}\n")
	p.must(req)
	p.write(filepath.Join(p.directory("s"), "state/state.json"), `{"stale":1}`)
	if got := p.must(p.request(protocol.ReadState, "s")); string(got["state"]) != "null" || string(got["backend"]) != `"sqlite"` {
		t.Errorf("no database: %v", got)
	}
	db := filepath.Join(p.directory("s"), "state/state.db")
	p.write(db, "")
	p.refused(p.request(protocol.ReadState, "s"), protocol.StateSchema)
	p.write(db, "x")
	p.refused(p.request(protocol.ReadState, "s"), protocol.UnsupportedOperation)
	p.m = New(Config{SQLite: fakeReader{}})
	if got := p.must(p.request(protocol.ReadState, "s")); namesOf(got) != "backend operation_id readable revision state" || string(got["revision"]) != "7" {
		t.Errorf("%v", got)
	}
	p.m = New(Config{SQLite: fakeReader{ErrStateSchema}})
	p.refused(p.request(protocol.ReadState, "s"), protocol.StateSchema)
	p.m = New(Config{SQLite: fakeReader{fmt.Errorf("page 3: %w", ErrStateCorrupt)}})
	p.refused(p.request(protocol.ReadState, "s"), protocol.StateCorrupt)
}

// fakeReader stands for the SQLite store, which this package does not link.
type fakeReader struct{ err error }

func (f fakeReader) ReadState(context.Context, string, func() error) (Snapshot, error) {
	return f, f.err
}

func (f fakeReader) WriteState(w io.Writer) error {
	_, err := io.WriteString(w, `{"from":"sqlite"}`)
	return err
}
func (f fakeReader) Revision() *uint64    { return new(uint64(7)) }
func (f fakeReader) OperationID() *string { return new("op") }
func (f fakeReader) Close() error         { return nil }

// A state that is written over in place while the answer is on its way makes the answer
// fail; it never lies.
func TestStateChangesMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	path := filepath.Join(p.directory("a"), "state/state.json")
	p.write(path, `{"a":1}`)
	result, failure := p.m.Handle(t.Context(), p.request(protocol.ReadState, "a"))
	if failure != nil {
		t.Fatal(failure)
	}
	defer result.Close()
	if err := os.WriteFile(path, []byte(`{"a":1,"b":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := result.Write(io.Discard); err == nil {
		t.Error("no error")
	}
}

// bigState writes a state of about n bytes as the worker does.
func bigState(tb testing.TB, path string, n int) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	turn := "    {\n      \"index\": 12,\n      \"role\": \"tool\",\n      \"text\": \"" + strings.Repeat(`line of output\n`, 60) + "\",\n      \"tokens\": 1234.5,\n      \"ok\": true\n    }"
	_, _ = io.WriteString(w, "{\n  \"turns\": [\n")
	for written := 0; written < n; written += len(turn) {
		if written > 0 {
			_, _ = io.WriteString(w, ",\n")
		}
		_, _ = io.WriteString(w, turn)
	}
	_, _ = io.WriteString(w, "\n  ]\n}\n")
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		tb.Fatal(err)
	}
}

// The size of a state needs no memory: what is allocated while a few MB are read is
// below it, also where one string is all of it.
func TestReadStateNeedsNoMemory(t *testing.T) {
	p := newPlace(t) // not parallel: it looks at the process's memory
	p.must(p.prepareRequest("a"))
	path := filepath.Join(p.directory("a"), "state/state.json")
	size := 12 << 20
	if long() {
		size = 200 << 20
	}
	for name, write := range map[string]func(){
		"many turns":  func() { bigState(t, path, size) },
		"one string":  func() { p.write(path, `{"s":"`+strings.Repeat("x", size)+`"}`) },
		"one big map": func() { p.write(path, `{"n":`+strings.Repeat("1", size)+`}`) },
	} {
		write()
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, failure := p.m.Handle(t.Context(), p.request(protocol.ReadState, "a"))
		if failure != nil {
			t.Fatal(failure)
		}
		if err := result.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
		result.Close()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

// BenchmarkReadState compares with validating the same bytes in memory.
func BenchmarkReadState(b *testing.B) {
	p := newPlace(b)
	p.must(p.prepareRequest("a"))
	path := filepath.Join(p.directory("a"), "state/state.json")
	bigState(b, path, 200<<20)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read_state", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			result, failure := p.m.Handle(b.Context(), p.request(protocol.ReadState, "a"))
			if failure != nil {
				b.Fatal(failure)
			}
			if err := result.Write(io.Discard); err != nil {
				b.Fatal(err)
			}
			result.Close()
		}
	})
	b.Run("validate", func(b *testing.B) {
		raw, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		for b.Loop() {
			if !jsontext.Value(raw).IsValid() {
				b.Fatal("not valid")
			}
		}
	})
}
