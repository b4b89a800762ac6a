package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"simplex/hub/fakehub"
	"simplex/llm/offline"
)

type hubEvent = fakehub.Event

const (
	terminate = syscall.SIGTERM
	interrupt = syscall.SIGINT
	hangup    = syscall.SIGHUP
)

func TestSignalsStopInOrder(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{terminate, interrupt, hangup} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := r.online()
			p.signal(s)
			p.exits(0)
			if e := r.expect("persisted"); e.Field("boundary") != "shutdown" || e.Field("format") != "json" {
				t.Errorf("last event %s", e.Raw)
			}
			if r.phase() != "ready" {
				t.Error("no state was saved")
			}
		})
	}
}

func TestSignalCancelsARunAndStops(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true})
	p := r.online()
	r.payload(message("q1", "think", nil))
	r.model.request(t, 1)
	p.signal(terminate)
	p.exits(0)
	r.cancelledAndStopped()
}

func TestShutdownSignalOfTheHub(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true})
	p := r.online()
	r.payload(message("q1", "think", nil))
	r.model.request(t, 1)
	r.signal(object{"operation": "shutdown"})
	p.exits(0)
	r.cancelledAndStopped()
}

// cancelledAndStopped checks the events of a run that a stop has cancelled.
func (r *rig) cancelledAndStopped() {
	r.t.Helper()
	events := r.rest()
	inOrder(r.t, events, "input_admitted", "run_started", "input_committed",
		"persisted(run_finished)", "run_finished", "persisted(shutdown)")
	for _, e := range events {
		if e.Name == "run_finished" && (e.Field("status") != "cancelled" || string(e.Value("durable")) != "true") {
			r.t.Errorf("run_finished %s", e.Data)
		}
	}
}

func TestJunkFromTheHubIsFatal(t *testing.T) {
	t.Parallel()
	for name, junk := range map[string]struct {
		kind int
		raw  string
	}{
		"binary":         {websocket.BinaryMessage, `{"type":"signal","data":{"operation":"status"}}`},
		"no JSON":        {websocket.TextMessage, `{"type":`},
		"two values":     {websocket.TextMessage, `{"type":"signal","data":{"operation":"status"}} {}`},
		"no object":      {websocket.TextMessage, `[1]`},
		"no type":        {websocket.TextMessage, `{"data":{}}`},
		"unknown type":   {websocket.TextMessage, `{"type":"event","data":{}}`},
		"no data":        {websocket.TextMessage, `{"type":"signal"}`},
		"data no object": {websocket.TextMessage, `{"type":"payload","data":["x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := r.online()
			if err := r.hub.SendRaw(junk.kind, []byte(junk.raw)); err != nil {
				t.Fatal(err)
			}
			p.exits(1)
			if r.phase() != "ready" {
				t.Error("the stop was not orderly: nothing was saved")
			}
			if !strings.Contains(p.stderr.String(), "hub connection") {
				t.Error("standard error does not say what was wrong")
			}
			if err := r.hub.Disconnected(deadline(t)); err != nil {
				t.Error("the connection still stands")
			}
			if strings.Contains(p.stderr.String(), "retry_in") {
				t.Error("the worker connected again")
			}
		})
	}
}

func TestUnreachableHubIsTriedForEver(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{"nobody listens", "401"} {
		t.Run(refusal, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.clientURL = strings.Replace(r.hub.EventsURL(), "token=", "token=wrong-but-secret-", 1)
			if refusal == "nobody listens" {
				r.hub.Down()
			}
			p := r.start()
			p.awaits(p.stderr, "hub connection failed", 3)
			begin := time.Now()
			p.signal(terminate)
			p.exits(0)
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("the stop took %v", took)
			}
			if text := p.stderr.String(); strings.Contains(text, "secret") {
				t.Error("the token is in the log")
			}
		})
	}
}

// tree is a command that starts sleepers in the background, writes their process ids
// to the file pids, tells so, and stays.
func tree(trap string) string {
	return fmt.Sprintf(`%s sh -c '%s sleep 901 & echo $! >>pids; sleep 902 & echo $! >>pids; echo $$ >>pids; echo up >ready; wait; wait' & `+
		`(setsid sleep 903 & echo $! >>pids; echo up >ready2); wait`, trap, trap)
}

// watched are the processes named in the file pids, held so that their end can be seen.
type watched map[int]int // pid -> pidfd

func watch(t *testing.T, dir string) watched {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	w := make(watched)
	for _, word := range strings.Fields(string(raw)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatalf("process %d is not there: %v", pid, err)
		}
		w[pid] = fd
		t.Cleanup(func() {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			_ = unix.Close(fd)
		})
	}
	return w
}

// over checks that every process ends within the limit.
func (w watched) over(t *testing.T, limit time.Duration) {
	t.Helper()
	end := time.Now().Add(limit)
	for pid, fd := range w {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(0, time.Until(end).Milliseconds())))
			if err == unix.EINTR {
				continue
			}
			if n == 0 {
				cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Errorf("process %d is left: %q", pid, cmd)
			}
			break
		}
	}
}

// meet makes named pipes below dir that commands write to, and gives a function that
// waits for the word of one.
func meet(t *testing.T, dir string, names ...string) (wait func(name string)) {
	t.Helper()
	for _, name := range names {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) {
		t.Helper()
		// Opened for both, a pipe is pollable without a writer, so the deadline holds.
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_ = f.SetReadDeadline(time.Now().Add(patience))
		if _, err := f.Read(make([]byte, 16)); err != nil {
			t.Fatalf("nobody wrote to %s: %v", name, err)
		}
	}
}

func TestNoDescendantOutlivesTheWorker(t *testing.T) { // BR-003
	t.Parallel()
	for name, stop := range map[string]func(*rig, *program){
		"SIGTERM":  func(_ *rig, p *program) { p.signal(terminate) },
		"SIGINT":   func(_ *rig, p *program) { p.signal(interrupt) },
		"SIGHUP":   func(_ *rig, p *program) { p.signal(hangup) },
		"shutdown": func(r *rig, _ *program) { r.signal(object{"operation": "shutdown"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, calls(shell("c1", tree(""), 0)), offline.Reply{Text: "It runs."})
			wait := meet(t, r.dir, "ready", "ready2")
			p := r.online()
			r.payload(message("q1", "serve", mode("approve")))
			wait("ready")
			wait("ready2")
			if status := r.finished(); status != "completed" {
				t.Fatal(status)
			}
			left := watch(t, r.dir)
			stop(r, p)
			p.exits(0)
			left.over(t, 0)
		})
	}
}

func TestSecondSignalEndsAtOnceAndLeavesNobody(t *testing.T) {
	t.Parallel()
	for _, second := range []syscall.Signal{terminate, interrupt, hangup} {
		t.Run(second.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, calls(shell("c1", tree(`trap "" TERM;`), 0)), offline.Reply{Text: "It runs."})
			wait := meet(t, r.dir, "ready", "ready2")
			p := r.online()
			r.payload(message("q1", "serve", mode("approve")))
			wait("ready")
			wait("ready2")
			if status := r.finished(); status != "completed" {
				t.Fatal(status)
			}
			left := watch(t, r.dir)
			begin := time.Now()
			p.signal(terminate)
			for e := r.expect("persisted"); e.Field("boundary") != "shutdown"; {
				e = r.expect("persisted")
			}
			p.signal(second) // the tree ignores SIGTERM: its grace has only begun
			p.exits(128 + int(second))
			if took := time.Since(begin); took > 4*time.Second {
				t.Errorf("the second signal took %v to work", took)
			}
			left.over(t, 5*time.Second)
		})
	}
}

func TestHangingToolIsNoObstacleToAStop(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo up >ready; exec sleep 904", 600000)))
	wait := meet(t, r.dir, "ready")
	p := r.online()
	r.payload(message("q1", "wait", mode("approve")))
	wait("ready")
	p.signal(terminate)
	p.exits(0)
	inOrder(t, r.rest(), "input_admitted", "run_started", "input_committed", "model_response", "tool_calls",
		"persisted(before_tools)", "persisted(results_ready)", "tool_results", "persisted(step_finished)",
		"persisted(run_finished)", "run_finished", "persisted(shutdown)")
	if got := r.phase(); got != "ready" {
		t.Errorf("phase %q: a started batch drains to records", got)
	}
}
