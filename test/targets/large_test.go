package targets

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"testing"
	"time"
)

const megabyte = 1_000_000

// counted hashes what is written and counts it.
type counted struct {
	hash.Hash
	n int
}

func newCounted() *counted { return &counted{Hash: sha256.New()} }

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.Hash.Write(p)
}

func (c *counted) String() string { return fmt.Sprintf("%d bytes %x", c.n, c.Sum(nil)) }

// largeState is a compact JSON object of about that many bytes.
func largeState(bytes int) string {
	turn := `{"id":18446744073709551615,"text":"` + strings.Repeat("it's ünïcödé \\n", 1000) + `"}`
	n := bytes / (len(turn) + 1)
	return `{"turns":[` + strings.Repeat(turn+",", n-1) + turn + `]}`
}

// 100 MB of state come through every way, whole.
func TestLargeState(t *testing.T) {
	t.Parallel()
	s := newStore(t, "large")
	text := largeState(100 * megabyte)
	want := newCounted()
	fmt.Fprintf(want, `{"version":1,"request_id":"op-read_state","ok":true,"result":{"backend":"json","state":%s,"readable":null}}`+"\n", text)
	for _, tg := range everywhere(t) {
		s.fresh(t, tg)
		tg.must(t, s.request("prepare", "big", object{"configuration": workerYAML}))
		tg.plant(t, s.directory("big"), map[string]string{"state.json": text})
		got, began := newCounted(), time.Now()
		a, err := tg.stream(t, got, shared.executable, "manage", "--request", encoded(s.request("read_state", "big", nil)))
		if err != nil || a.code != 0 || a.stderr != "" {
			t.Fatalf("%s: %v %v", tg.name, err, a)
		}
		t.Logf("%s: %d bytes in %v", tg.name, got.n, time.Since(began).Round(time.Millisecond))
		if got.String() != want.String() {
			t.Errorf("%s: got %v, want %v", tg.name, got, want)
		}
		tg.must(t, s.request("remove", "big", nil))
	}
}

// 30 MB of standard output and 3 MB of standard error, written in turns, come whole.
func TestBothStreams(t *testing.T) {
	t.Parallel()
	script := `i=0; while [ $i -lt 30 ]; do head -c 1000000 /dev/zero; head -c 100000 /dev/zero >&2; i=$((i+1)); done; exit 7`
	for _, tg := range everywhere(t) {
		out := newCounted()
		a, err := tg.stream(t, out, shell, "-c", script)
		if err != nil || a.code != 7 || out.n != 30*megabyte || len(a.stderr) != 3*megabyte {
			t.Errorf("%s: %v, exit code %d, %d and %d bytes", tg.name, err, a.code, out.n, len(a.stderr))
		}
	}
}
