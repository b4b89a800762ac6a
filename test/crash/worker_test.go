//go:build crash

package crash

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// released bounds how long a lease may outlive its worker.
const released = 2 * time.Second

// worker is one `simplex run` on the managed reference.
type worker struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
	killed bool
}

// employed prepares an allocation that a worker can start on.
func (b *bench) employed() string {
	return b.request("prepare", "a", `,"configuration":"driver_model: m\nproviders: {m: {plugin: offline, model: offline}}\nclient: {endpoint: \"ws://127.0.0.1:1/\"}\nkey: `+secret+`\n"`)
}

// work starts a worker that looks for a Hub where none is, so that it stays.
func (b *bench) work() (*worker, error) {
	w := &worker{ended: make(chan struct{})}
	w.cmd = exec.Command(b.binary, "run", "--config", filepath.Join(b.dir("a"), "config/config.yaml"), "--session", "s1")
	w.cmd.Stderr = &w.stderr
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait()
	}()
	return w, nil
}

func (w *worker) kill() {
	w.killed = w.cmd.Process.Kill() == nil || w.killed
	<-w.ended
}

// within tells whether the worker ended by itself in that time.
func (w *worker) within(d time.Duration) bool {
	select {
	case <-w.ended:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.ended:
		return true
	case <-timer.C:
		return false
	}
}

// refusal is what is wrong about the end of a worker that nobody killed.
func (w *worker) refusal() []string {
	if code := w.cmd.ProcessState.ExitCode(); code != 1 && !(w.killed && code == -1) || strings.Contains(w.stderr.String(), "goroutine ") {
		return []string{fmt.Sprintf("a worker's exit code is %d: %s", code, &w.stderr)}
	}
	return nil
}
