//go:build crash

package crash

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// event is one call of a traced operation that changes what a power cut leaves. Paths
// are relative to the bench's root, which is ".".
type event struct {
	kind string // mkdir, create, write, fsync, rename, unlink
	path string
	to   string // rename
	data string // write
}

var (
	tracedCall   = regexp.MustCompile(`^\d+ +(\w+)\((.*)\) += (-?\d+)`)
	tracedFile   = regexp.MustCompile(`\b\d+<((?:\\x[0-9a-f]{2})*)>`)
	tracedString = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// traced runs a request undisturbed and gives its answer and what it did below the root.
func (b *bench) traced(argument string) (answer, []event) {
	b.tb.Helper()
	log := filepath.Join(b.tb.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-qq", "-xx", "-y", "-s", "1000000", "-o", log,
		"-e", "trace=mkdirat,openat2,openat,write,pwrite64,ftruncate,fsync,fdatasync,renameat,renameat2,unlinkat,linkat,symlinkat", b.binary, "manage", "--request", argument)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, _ := cmd.Output()
	raw, err := os.ReadFile(log)
	if err != nil {
		b.tb.Fatal(err)
	}
	return parse(out), b.events(string(raw))
}

// events reads a log. Calls that failed and calls outside the root are left out.
func (b *bench) events(log string) (out []event) {
	b.tb.Helper()
	begun := map[string]string{} // by process: a call that another's line interrupted
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		pid, _, _ := strings.Cut(line, " ")
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			begun[pid] = head
			continue
		}
		if _, tail, ok := strings.Cut(line, " resumed>"); ok {
			line = begun[pid] + tail
		}
		m := tracedCall.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[3], "-") {
			continue
		}
		var files, texts []string
		for _, f := range tracedFile.FindAllStringSubmatch(m[2], -1) {
			files = append(files, unhex(b.tb, f[1]))
		}
		for _, s := range tracedString.FindAllStringSubmatch(m[2], -1) {
			texts = append(texts, unhex(b.tb, s[1]))
		}
		if e, ok := b.event(m[1], m[2], files, texts); ok {
			out = append(out, e)
		}
	}
	return out
}

func unhex(tb testing.TB, s string) string {
	tb.Helper()
	out, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

func (b *bench) event(call, args string, files, texts []string) (event, bool) {
	b.tb.Helper()
	if len(files) == 0 || !strings.HasPrefix(files[0]+"/", b.root+"/") {
		return event{}, false
	}
	rel := func(i int) string {
		path := files[i]
		if len(texts) > i {
			path = filepath.Join(path, texts[i])
		}
		out, err := filepath.Rel(b.root, path)
		if err != nil {
			b.tb.Fatal(err)
		}
		return out
	}
	switch call {
	case "openat2", "openat":
		return event{kind: "create", path: rel(0)}, strings.Contains(args, "O_CREAT")
	case "mkdirat":
		return event{kind: "mkdir", path: rel(0)}, true
	case "unlinkat":
		return event{kind: "unlink", path: rel(0)}, true
	case "renameat", "renameat2":
		return event{kind: "rename", path: rel(0), to: rel(1)}, true
	case "fsync", "fdatasync":
		return event{kind: "fsync", path: rel(0)}, true
	case "write":
		data := texts[0]
		texts = nil
		return event{kind: "write", path: rel(0), data: data}, true
	}
	b.tb.Fatalf("the replay does not know the call %s(%s)", call, args)
	return event{}, false
}

func (e event) String() string {
	text := e.kind + " " + e.path
	if e.kind == "rename" {
		text = "rename to " + e.to
	}
	return placeName(text)
}

// placeName gives paths names that are the same for every allocation.
func placeName(text string) string {
	for _, id := range []string{"a", "c"} {
		text = strings.ReplaceAll(text, "up/"+managerDir+"/"+id+".", "M/ID.")
		text = strings.ReplaceAll(text+" ", "up/"+id+" ", "D ")
	}
	text = strings.ReplaceAll(text, "up/"+managerDir, "M")
	return strings.TrimSpace(text)
}

// site names the place in the program that an fsync comes from: what it syncs, and the
// last change before it.
func site(events []event, i int) string {
	last := "start"
	for _, e := range events[:i] {
		if e.kind != "fsync" {
			last = e.String()
		}
	}
	return fmt.Sprintf("%s after %s", events[i], last)
}
