package bench

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"simplex/manager/protocol"
)

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// peakOf is the largest resident set of one run, in KiB. A program's starts at that of
// the one that starts it, so a tiny one does.
func (y *yard) peakOf(argv []string) int {
	report := filepath.Join(y.b.TempDir(), "peak")
	y.run(append([]string{filepath.Join(y.floors, "runit"), report}, argv...))
	raw, err := os.ReadFile(report)
	if err != nil {
		panic(err)
	}
	kib, err := strconv.Atoi(strings.Fields(string(raw))[0])
	if err != nil {
		panic(err)
	}
	return kib
}

func BenchmarkManageMemory(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	inspect := y.request(protocol.Inspect, "a", nil)
	var ours, bare []int
	for b.Loop() {
		ours, bare = append(ours, y.peakOf(inspect)), append(bare, y.peakOf(y.hello()))
	}
	ratio := float64(median(ours)) / float64(median(bare))
	b.ReportMetric(ratio, "ratio")
	mib := func(kib int) string { return fmt.Sprintf("%.1fMiB", float64(kib)/1024) }
	note(figure{
		name: "peak memory of inspect / of hello", ours: mib(median(ours)), bare: mib(median(bare)),
		ratio: fmt.Sprintf("%.2f", ratio), goal: "≤ 1.50", met: ratio <= 1.5,
	})
}

// calls counts the system calls of one run by strace.
func (y *yard) calls(pattern string, argv []string) []string {
	trace := filepath.Join(y.b.TempDir(), "trace")
	y.run(append([]string{"strace", "-f", "-y", "-qq", "-o", trace}, argv...))
	raw, err := os.ReadFile(trace)
	if err != nil {
		panic(err)
	}
	return regexp.MustCompile(`(?m)^.*\b`+pattern+`\(.*$`).FindAllString(string(raw), -1)
}

// BenchmarkManageSyncs counts; what it is told to repeat changes nothing.
func BenchmarkManageSyncs(b *testing.B) {
	y := newYard(b)
	if _, err := exec.LookPath("strace"); err != nil {
		b.Skip(err)
	}
	for _, c := range []struct {
		name  string
		argv  []string
		most  int
		exact bool
	}{
		{"a root's first prepare", y.prepare("a"), 12, false},
		{"prepare", y.prepare("b"), 12, false},
		{"refresh", y.refresh("a", 1), 2, true},
		{"capture", y.capture("a", 1, 2), 2, true},
		{"remove", y.request(protocol.Remove, "a", nil), 7, false},
	} {
		n := len(y.calls(`f(?:data)?sync`, c.argv))
		note(count("fsyncs of "+c.name, n, c.most, c.exact))
	}
	for b.Loop() {
	}
}

func count(name string, n, most int, exact bool) figure {
	f := figure{name: name, ours: strconv.Itoa(n), bare: "–", ratio: "–", goal: "≤ " + strconv.Itoa(most), met: n <= most}
	if exact {
		f.goal, f.met = "= "+strconv.Itoa(most), n == most
	}
	return f
}

// BenchmarkManageTombstones looks at one allocation among many that were removed.
func BenchmarkManageTombstones(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	y.run(y.prepare("gone"))
	y.run(y.request(protocol.Remove, "gone", nil))
	beside := filepath.Join(y.root, protocol.ManagerDirectory)
	tombstone, err := os.ReadFile(filepath.Join(beside, "gone.json"))
	if err != nil {
		b.Fatal(err)
	}
	other := &yard{b: b, manager: y.manager, floors: y.floors, root: b.TempDir()}
	other.run(other.prepare("a"))
	for i := range volume(10_000) {
		name := filepath.Join(beside, "t"+strconv.Itoa(i))
		for suffix, text := range map[string][]byte{".json": tombstone, ".lock": nil} {
			if err := os.WriteFile(name+suffix, text, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	crowded, alone := y.request(protocol.Inspect, "a", nil), other.request(protocol.Inspect, "a", nil)
	race(b, func() { y.run(crowded) }, func() { y.run(alone) }).cost(b, "inspect beside 10,000 tombstones / beside none", 1.2)
	if _, err := exec.LookPath("strace"); err == nil {
		note(count("directories read by inspect beside them", len(y.calls(`getdents(?:64)?`, crowded)), 0, true))
	}
}

// BenchmarkManageReadState streams a large state through the real program, against a
// bare look at whether the same bytes are valid JSON.
func BenchmarkManageReadState(b *testing.B) {
	y := newYard(b)
	y.run(y.prepare("a"))
	state := filepath.Join(y.root, "a", "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(state, "state.json")
	writeState(b, path, volume(200<<20))
	read := y.request(protocol.ReadState, "a", nil)
	race(b, func() { y.run(read) }, func() { validate(b, path) }).speed(b, "read_state of 200 MB / validating the bytes", 0.5)
	kib := y.peakOf(read)
	note(figure{name: "peak memory of that", ours: fmt.Sprintf("%.1fMiB", float64(kib)/1024), bare: "–", ratio: "–", goal: "≤ 64 MB", met: kib <= 64_000_000/1024})
}

// writeState writes an indented object of about size bytes, as long as many messages.
func writeState(b *testing.B, path string, size int) {
	b.Helper()
	turn := "    {\n      \"text\": \"" + strings.Repeat("a line with \\\"quotes\\\", é and a \\n ", 40) + "\",\n      \"tokens\": 12345\n    }"
	text := "{\n  \"turns\": [\n" + strings.Repeat(turn+",\n", size/(len(turn)+2)) + turn + "\n  ]\n}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func validate(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	dec := jsontext.NewDecoder(f)
	if err := dec.SkipValue(); err != nil {
		b.Fatal(err)
	}
}
