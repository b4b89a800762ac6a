package durable_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The order that makes a publication durable, as the kernel sees it: content, fsync of
// the file, rename, fsync of the directory, and no further fsync.
func TestOrderOfSystemCalls(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("this test needs strace (apt-get install strace):", err)
	}
	root := t.TempDir()
	state := filepath.Join(root, "state")
	mustPublish(t, filepath.Join(state, "state.json"), oldContent)

	log := filepath.Join(t.TempDir(), "trace")
	child := childCommand(t, "publish", root, "0")
	child.Args = append([]string{
		strace, "-f", "-ff", "-y", "-o", log,
		"-e", "trace=openat,write,fchmod,fsync,fdatasync,close,rename,renameat,renameat2,unlinkat",
	}, child.Args...)
	child.Path = strace
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := joinWrites(publicationCalls(t, log, state))
	want := []string{"create", "chmod temp", "write temp", "fsync temp", "close temp", "rename", "fsync dir"}
	if !slices.Equal(got, want) {
		t.Fatalf("calls %q, want %q", got, want)
	}
}

// joinWrites counts writes in a row as one; a second fsync would still show.
func joinWrites(calls []string) []string {
	return slices.CompactFunc(calls, func(a, b string) bool { return a == b && a == "write temp" })
}

// publicationCalls reads the trace of the one thread that worked in the directory.
func publicationCalls(t *testing.T, log, state string) []string {
	t.Helper()
	files, err := filepath.Glob(log + ".*")
	if err != nil {
		t.Fatal(err)
	}
	temp := regexp.QuoteMeta(state+"/.simplex-write-") + `\w{6}`
	kinds := []struct {
		name string
		line *regexp.Regexp
	}{
		{"create", regexp.MustCompile(`^openat\(.*"\.simplex-write-.*O_CREAT.*O_EXCL.*O_CLOEXEC.*0600`)},
		{"chmod temp", regexp.MustCompile(`^fchmod\(\d+<` + temp + `>, 0600`)},
		{"write temp", regexp.MustCompile(`^write\(\d+<` + temp + `>`)},
		{"fsync temp", regexp.MustCompile(`^f(data)?sync\(\d+<` + temp + `>`)},
		{"close temp", regexp.MustCompile(`^close\(\d+<` + temp + `>`)},
		{"rename", regexp.MustCompile(`^rename\w*\(.*"\.simplex-write-\w{6}".*"state\.json"`)},
		{"fsync dir", regexp.MustCompile(`^fsync\(\d+<` + regexp.QuoteMeta(state) + `>`)},
		{"other fsync", regexp.MustCompile(`^f(data)?sync\(`)},
		{"unlink", regexp.MustCompile(`^unlinkat\(`)},
	}
	var calls []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			for _, kind := range kinds {
				if kind.line.MatchString(line) {
					calls = append(calls, kind.name)
					break
				}
			}
		}
	}
	return calls
}
