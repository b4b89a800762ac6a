package manager

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// workerVariable makes the test binary a process that resolves the configuration it
// names and holds its lease until standard input ends, as a worker does for its life.
const workerVariable = "MANAGER_TEST_WORKER"

func workerMain() int {
	managed, err := New(Config{}).Resolve(os.Getenv(workerVariable))
	if err != nil {
		fmt.Println("refused:", err)
		return 1
	}
	if managed == nil {
		fmt.Println("not managed")
		return 1
	}
	fmt.Println("running", managed.AllocationID)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := managed.Lease.Close(); err != nil {
		return 1
	}
	return 0
}

// worker is such a process at work.
type worker struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	says  string // its first line
}

func startWorker(tb testing.TB, config string) *worker {
	tb.Helper()
	w := &worker{cmd: exec.Command("/proc/self/exe")}
	w.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", workerVariable+"="+config)
	w.cmd.Stderr = os.Stderr
	var err error
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.stop)
	line, _ := bufio.NewReader(out).ReadString('\n')
	w.says = strings.TrimSpace(line)
	return w
}

// stop ends it in order; a second call does nothing.
func (w *worker) stop() {
	_ = w.stdin.Close()
	_ = w.cmd.Wait()
}

// kill ends it with SIGKILL.
func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}
