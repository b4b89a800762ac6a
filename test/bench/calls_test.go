package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"simplex/process"
)

// Start to exit of a command that does nothing. The tool's shell is bash, so that is
// what os/exec is given; what the system's sh would cost is shown beside it.
func BenchmarkRunCommand(b *testing.B) {
	x := newBench(b)
	ours := func(line string) func() { return func() { x.batch("run_command", args{"command": line}) } }
	bare := func(shell, line string) func() {
		return func() { must(b, exec.Command(shell, "-c", line).Run()) }
	}
	const rounds = 50 // of a few milliseconds each
	many := func(one func()) func() {
		return func() {
			for range rounds {
				one()
			}
		}
	}
	b.Run("shell", func(b *testing.B) {
		race(b, many(ours(":")), many(bare(process.Shell(), ":"))).cost(b, "50 × run_command : against os/exec of its shell", 1.3)
	})
	b.Run("sh", func(b *testing.B) {
		race(b, many(ours("sh -c :")), many(bare(process.Shell(), "sh -c :"))).cost(b, "50 × run_command sh -c : against os/exec of its shell", 1.3)
	})
	b.Run("without a shell", func(b *testing.B) {
		race(b, many(func() { x.batch("spawn_process", args{"executable": "sh", "arguments": []string{"-c", ":"}}) }), many(bare("sh", ":"))).
			cost(b, "50 × spawn_process sh -c : against os/exec of sh", 1.3)
	})
	b.Run("against sh", func(b *testing.B) {
		race(b, many(ours(":")), many(bare("sh", ":"))).cost(b, "50 × run_command : (bash) against os/exec of sh (dash)", 0)
	})
}

const cutLine = "head -c 8388608 /dev/zero | tr '\\0' x"

// 8 MiB of output, of which a result shows the budget.
func BenchmarkCutOutput(b *testing.B) {
	x := newBench(b)
	ours := func() {
		text := x.batch("run_command", args{"command": cutLine, "expected_runtime_milliseconds": 60000})[0]
		if n := len(text); n < 72<<10 || n > 74<<10 {
			b.Errorf("%d bytes", n)
		}
	}
	race(b, ours, func() { counted(b, 8<<20, process.Shell(), "-c", cutLine) }).cost(b, "8 MiB of output cut to the budget", 3)
	grown(b)
}

// Four calls of one batch that may run beside each other, against the same by a shell,
// one after the other.
func BenchmarkFourCalls(b *testing.B) {
	x := newBench(b)
	path := filepath.Join(b.TempDir(), "file")
	must(b, os.WriteFile(path, []byte(strings.Repeat("a line of text\n", 200)), 0o600))
	serial := func(line string) func() {
		return func() {
			for range 4 {
				if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil || bytes.Contains(out, []byte("error")) {
					b.Errorf("%v: %s", err, out)
				}
			}
		}
	}
	four := func(name string, a args) func() { return func() { x.batch(name, a, a, a, a) } }
	b.Run("reads", func(b *testing.B) {
		race(b, four("read_text", args{"path": path}), serial("cat "+path)).cost(b, "4 parallel read_text against 4 × sh -c cat in turn", 1)
	})
	b.Run("commands", func(b *testing.B) {
		race(b, four("run_command", args{"command": "true"}), serial("true")).cost(b, "4 serial run_command against 4 × sh -c true in turn", 0)
	})
}

// grown notes what the cut costs a fresh process in memory.
func grown(b *testing.B) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(b, err)
	var before, after, sessions int64
	if _, err := fmt.Sscan(string(out), &before, &after, &sessions); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	note(figure{
		name: "peak memory, 8 MiB of output cut (before, after)", ours: mib(after), bare: mib(before),
		ratio: "+" + mib(after-before), goal: "≤ +4 MiB", met: after-before <= 4<<20,
	})
	bound := int64(process.DefaultMaxSessions * (process.DefaultMaxOutputBytes + 2*process.DefaultTailBytes + 80<<10))
	note(figure{
		name: fmt.Sprintf("peak memory, %d chatty sessions (bound, grown)", process.DefaultMaxSessions), ours: mib(sessions), bare: mib(bound),
		ratio: fmt.Sprintf("%.2f", float64(sessions)/float64(bound)), goal: "≤ 1.00", met: sessions <= bound,
	})
}
