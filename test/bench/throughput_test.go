package bench

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"simplex/process"
)

func head(n int) process.LaunchSpec {
	return process.LaunchSpec{Executable: "head", Arguments: []string{"-c", strconv.Itoa(n), "/dev/zero"}, InheritEnvironment: true}
}

// A flood through pipes, against os/exec with a writer that only counts.
func BenchmarkDrainPipe(b *testing.B) {
	x, n := newBench(b), volume(1<<30)
	b.SetBytes(int64(2 * n))
	race(b, func() { x.drained(head(n)) }, func() { counted(b, n, "head", "-c", strconv.Itoa(n), "/dev/zero") }).
		speed(b, fmt.Sprintf("drain %d MiB from head -c", n>>20), 0.85)
}

// A flood through a terminal, against the library's own example of a reader.
func BenchmarkDrainTerminal(b *testing.B) {
	x, n := newBench(b), volume(1<<28)
	spec := head(n)
	spec.TTY = true
	b.SetBytes(int64(2 * n))
	race(b, func() { x.drained(spec) }, func() { bareTerminal(b, n) }).
		speed(b, fmt.Sprintf("drain %d MiB from a terminal", n>>20), 0.85)
}

func bareTerminal(b *testing.B, n int) {
	b.Helper()
	cmd := exec.Command("head", "-c", strconv.Itoa(n), "/dev/zero")
	master, err := pty.Start(cmd)
	must(b, err)
	out := &counter{}
	if _, err := io.Copy(out, master); err != nil && !errors.Is(err, syscall.EIO) {
		b.Error(err)
	}
	must(b, cmd.Wait())
	must(b, master.Close())
	if out.n != int64(n) {
		b.Errorf("%d bytes", out.n)
	}
}

// As many sessions as the table holds, all flooding at once.
func BenchmarkChatty(b *testing.B) {
	x, n := newBench(b), volume(1<<25)
	all := func(one func()) func() {
		return func() {
			var wg sync.WaitGroup
			for range process.DefaultMaxSessions {
				wg.Go(one)
			}
			wg.Wait()
		}
	}
	b.SetBytes(int64(2 * n * process.DefaultMaxSessions))
	race(b, all(func() { x.drained(head(n)) }), all(func() { counted(b, n, "head", "-c", strconv.Itoa(n), "/dev/zero") })).
		speed(b, fmt.Sprintf("%d sessions of %d MiB at once", process.DefaultMaxSessions, n>>20), 0.85)
}
