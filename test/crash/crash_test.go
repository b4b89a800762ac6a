//go:build crash

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// operation is one mutating operation with the requests that lead to it.
type operation struct {
	name    string
	before  func(b *bench) []string
	request func(b *bench) string
	id      string
}

func operations() []operation {
	prepared := func(b *bench) []string { return []string{b.prepare("a")} }
	capture := `,"lifecycle_id":"l","expected_revision":1`
	captured := func(b *bench) []string { return append(prepared(b), b.request("capture_startup", "a", capture)) }
	return []operation{
		{"prepare", func(*bench) []string { return nil }, func(b *bench) string { return b.prepare("a") }, "a"},
		{"refresh", prepared, func(b *bench) string {
			return b.request("prepare", "a", `,"refresh":{"client_endpoint":"ws://h/2"},"expected_revision":1`)
		}, "a"},
		{"capture_startup", prepared, func(b *bench) string { return b.request("capture_startup", "a", capture) }, "a"},
		{"clean_fork", captured, func(b *bench) string {
			return b.request("clean_fork", "c", fmt.Sprintf(`,"source":{"allocation_id":"a","directory":%q,"lifecycle_id":"l","revision":1}`, b.dir("a")))
		}, "c"},
		{"remove", captured, func(b *bench) string { return b.request("remove", "a", "") }, "a"},
	}
}

// calls are the system calls that the manager makes on files.
var calls = []string{"openat2", "mkdirat", "statx", "flock", "fcntl", "write", "fsync", "renameat", "renameat2", "unlinkat", "getdents64", "close"}

// figures are what a run of a layer comes to.
type figures struct {
	points, reported, violations int
	silent                       int                 // ended without an answer where the language's runtime allows no other end
	kinds                        [len(kindNames)]int // of violations
	first                        []string
}

// kindNames are the kinds of violations; what no word of kindOf tells is not repeatable.
var kindNames = [...]string{"lost", "torn", "leftover", "secret_left", "published_lies", "wrong_code", "outside_changed", "not_repeatable"}

func kindOf(problem string) int {
	for kind, words := range [][]string{
		{"is lost", "no record"}, {"inspect", "not complete"}, {"left over", "temporary names"}, {"secret"}, {"a lie"}, {"another code", "no response", "exit code"}, {"outside"},
	} {
		for _, word := range words {
			if strings.Contains(problem, word) {
				return kind
			}
		}
	}
	return len(kindNames) - 1
}

// String gives the violations by kind.
func (f *figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "violations=%d", f.violations)
	for kind, name := range kindNames {
		fmt.Fprintf(&b, " %s=%d", name, f.kinds[kind])
	}
	return b.String()
}

func (f *figures) found(where string, problems []string) {
	f.violations += len(problems)
	for _, p := range problems {
		f.kinds[kindOf(p)]++
		if len(f.first) < 5 {
			f.first = append(f.first, where+": "+p)
		}
	}
}

// add takes another run's figures in.
func (f *figures) add(g figures) {
	f.points, f.reported, f.violations, f.silent = f.points+g.points, f.reported+g.reported, f.violations+g.violations, f.silent+g.silent
	for kind, n := range g.kinds {
		f.kinds[kind] += n
	}
	f.first = append(f.first, g.first[:min(len(g.first), max(0, 5-len(f.first)))]...)
}

// begin makes an operation's starting state.
func (op operation) begin(b *bench) string {
	b.fresh()
	for _, argument := range op.before(b) {
		if a := b.run(argument); a.code != "" {
			b.tb.Fatalf("%s: %s", op.name, a.text)
		}
	}
	if op.name == "remove" {
		for _, name := range []string{"state/state.json", "memory/old"} {
			path := filepath.Join(b.dir("a"), name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				b.tb.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
				b.tb.Fatal(err)
			}
		}
		b.leadOut("a")
	}
	return op.request(b)
}

// kill is layer B: SIGKILL at the entry of every call.
func kill(tb testing.TB, binary string, ops []operation) (f figures) {
	b := &bench{tb: tb, binary: binary}
	for _, op := range ops {
		for _, call := range calls {
			for n := 1; ; n++ {
				argument := op.begin(b)
				_, killed, _ := b.strace(argument, call, fmt.Sprintf("signal=KILL:when=%d", n))
				if !killed {
					break
				}
				f.points++
				where := fmt.Sprintf("%s killed at %s %d", op.name, call, n)
				f.found(where, b.violations())
				f.found(where, b.finish(argument, op.name == "remove"))
			}
		}
	}
	return f
}

// fail is layer C: every one of the calls fails, once or from then on.
func fail(tb testing.TB, binary, errno string, ops []operation, calls []string) (f figures) {
	b := &bench{tb: tb, binary: binary}
	for _, op := range ops {
		for _, call := range calls {
			for _, sticky := range modes(errno) {
				for n := 1; ; n++ {
					argument := op.begin(b)
					before := b.visible(op.id)
					a, _, struck := b.strace(argument, call, fmt.Sprintf("error=%s:when=%d%s", errno, n, sticky))
					if !struck {
						break
					}
					f.points++
					where := fmt.Sprintf("%s: %s at %s %d%s", op.name, errno, call, n, sticky)
					if a.code != "" {
						f.reported++
					}
					if a.code == "none" {
						f.silent++
					}
					f.found(where, judge(a, before, b.visible(op.id), call))
					f.found(where, b.violations())
					f.found(where, b.finish(argument, op.name == "remove"))
				}
			}
		}
	}
	return f
}

// modes are once and from then on; a call that is interrupted each time has no end.
func modes(errno string) []string {
	if errno == "EINTR" {
		return []string{""}
	}
	return []string{"", "+"}
}

// judge holds an answer against what was visible before and after.
func judge(a answer, before, after, call string) (out []string) {
	if a.published != nil && *a.published != (before != after) {
		out = append(out, "published is a lie: "+a.text)
	}
	switch a.code {
	case "", "io_error":
	case "none": // the response could not be written, or the runtime needs a descriptor of its own
		if !slices.Contains([]string{"write", "fcntl", "epoll_create1", "eventfd2"}, call) {
			out = append(out, "no response: "+a.text)
		}
	default:
		out = append(out, "another code: "+a.text)
	}
	return out
}

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		skipped(t, t.Name(), err)
	}
}

// build makes the binary, with changed files in place of the tree's. It is a static one:
// a fault in the loader of shared libraries would say nothing about the manager.
func build(t *testing.T, overlay string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "simplex")
	args := []string{"build", "-o", out, "-tags", "netgo osusergo sqlite_omit_load_extension", "-ldflags", "-s -w -extldflags=-static"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "simplex/cmd/simplex")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func TestKillAtEveryCall(t *testing.T) {
	needStrace(t)
	f := kill(t, build(t, ""), operations())
	report(t, "crash   ops=%d points=%d killed=%d repeat_ok=%d %v", len(operations()), f.points, f.points, f.points-f.kinds[len(kindNames)-1], &f)
	if f.violations > 0 || f.points < 200 {
		t.Errorf("%d points: %s", f.points, strings.Join(f.first, "\n"))
	}
}

// A call that a signal interrupts is made again, and nobody learns of it.
func TestInterruptedAtEveryCall(t *testing.T) {
	needStrace(t)
	f := fail(t, build(t, ""), "EINTR", operations(), calls)
	report(t, "errors  errno=EINTR faults=%d reported=%d tolerated=%d %v", f.points, f.reported, f.points-f.reported, &f)
	if f.violations > 0 || f.reported > f.silent || f.points < 200 {
		t.Errorf("%d faults, %d reported: %s", f.points, f.reported, strings.Join(f.first, "\n"))
	}
}

func TestErrorsAtEveryCall(t *testing.T) {
	needStrace(t)
	binary := build(t, "")
	errnos := []string{"EIO", "ENOSPC", "EDQUOT"}
	if os.Getenv("SIMPLEX_LONG") != "" {
		errnos = append(errnos, "EROFS")
	}
	for _, errno := range errnos {
		f := fail(t, binary, errno, operations(), calls)
		report(t, "errors  errno=%s faults=%d reported=%d tolerated=%d %v", errno, f.points, f.reported, f.points-f.reported, &f)
		if f.violations > 0 || f.points < 200 {
			t.Errorf("%s: %d faults: %s", errno, f.points, strings.Join(f.first, "\n"))
		}
	}
}
