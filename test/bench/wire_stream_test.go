package bench

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simplex/test/conformance/rig"
)

// floorBinary is floor, the cheapest honest agent: built from a copy of the folder that
// PERF names, relative to the repository, by default ../shared/perf.
func floorBinary(b *testing.B) string {
	b.Helper()
	perf := os.Getenv("PERF")
	if perf == "" {
		perf = filepath.Join("..", "shared", "perf")
	}
	if !filepath.IsAbs(perf) {
		perf = filepath.Join("..", "..", perf)
	}
	if _, err := os.Stat(perf); err != nil {
		b.Skipf("the floor programs are away: %v", err)
	}
	dir := filepath.Join(b.TempDir(), "perf")
	must(b, os.CopyFS(dir, os.DirFS(perf)))
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "floor"), "./cmd/floor")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build floor: %v\n%s", err, out)
	}
	return filepath.Join(dir, "floor")
}

// streamer is a model whose every answer is the same plain text in pieces of 256 bytes.
type streamer struct {
	url   string
	began chan time.Time // when the first byte of an answer left
}

func newStreamer(b *testing.B, size int) *streamer {
	b.Helper()
	const line = "the quick brown fox jumps over the lazy dog and writes \"notes\" in /tmp/some/file.go:42\n"
	text := strings.Repeat(line, size/len(line)+1)[:size]
	var events []string
	event := func(delta map[string]any, finish any) {
		raw, err := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		must(b, err)
		events = append(events, fmt.Sprintf("data: %s\n\n", raw))
	}
	for at := 0; at < size; at += 256 {
		event(map[string]any{"content": text[at:min(at+256, size)]}, nil)
	}
	event(map[string]any{}, "stop")
	events = append(events, "data: [DONE]\n\n")
	s := &streamer{began: make(chan time.Time, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		s.began <- time.Now()
		for _, e := range events {
			_, _ = io.WriteString(w, e)
		}
	}))
	b.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// run is one run of a fresh worker, from the first byte of the answer to run_finished.
func (s *streamer) run(b *testing.B, binary string) time.Duration {
	b.Helper()
	r := rig.New(b)
	file := r.Configuration()
	raw, err := os.ReadFile(file)
	must(b, err)
	r.Write(filepath.Base(file), strings.Replace(string(raw), r.Model.URL(), s.url, 1))
	rig.Binary = binary
	worker := rig.Launch(b, r.Dir, nil, "run", "--config", file, "--session", "s1")
	r.Until("ready")
	r.Payload(rig.Message("m", "go"))
	r.Completes()
	took := time.Since(<-s.began)
	worker.Kill()
	return took
}

// bare is one run of floor with the file store, from the first byte to its end, which
// follows its save at once.
func (s *streamer) bare(b *testing.B, floor string) time.Duration {
	b.Helper()
	cmd := exec.Command(floor, "-url", s.url, "-dir", b.TempDir(), "-state", "file")
	must(b, cmd.Run())
	return time.Since(<-s.began)
}

// A streamed answer: read, saved and told of by a worker, against floor-file, and by its
// length.
func BenchmarkStreamedAnswer(b *testing.B) {
	binary, floor := simplexBinary(b), floorBinary(b)
	sizes := []int{64 << 10, 256 << 10, 1 << 20}
	models, all := make([]*streamer, len(sizes)), make([]pairs, len(sizes))
	for i, size := range sizes {
		models[i] = newStreamer(b, size)
	}
	for b.Loop() {
		for i, m := range models {
			all[i].ours = append(all[i].ours, m.run(b, binary))
			all[i].bare = append(all[i].bare, m.bare(b, floor))
		}
	}
	goals := []float64{0, 1.5, 0} // the others show how the cost grows
	for i, size := range sizes {
		all[i].cost(b, fmt.Sprintf("streamed answer of %d KiB, against floor-file", size>>10), goals[i])
	}
	for i := range sizes[1:] {
		grown := pairs{ours: all[i+1].ours}
		for _, d := range all[i].ours {
			grown.bare = append(grown.bare, 4*d)
		}
		grown.cost(b, fmt.Sprintf("streamed answer of %d KiB, against 4 × %d KiB", sizes[i+1]>>10, sizes[i]>>10), 1.2)
	}
}
