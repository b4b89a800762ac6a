package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/llm/offline"
)

// admitted sends a message to a restarted worker and tells whether its run completed;
// false when the input was rejected because an operator must look first (wire.md §11).
func (r *rig) admitted(id string) bool {
	r.t.Helper()
	r.payload(message(id, "go on", mode("approve")))
	for {
		switch e := r.next(); {
		case e.RequestID != id:
		case e.Name == "input_rejected":
			if e.Field("message") == "" || e.Field("code") != "" {
				r.t.Errorf("rejected without a word: %s", e.Raw)
			}
			return false
		case e.Name == "run_finished":
			if e.Field("status") != "completed" {
				r.t.Errorf("the run after the restart: %s", e.Data)
			}
			return true
		}
	}
}

// restarted starts the session again after a kill; that must work at once (BR-030).
func (r *rig) restarted() *program {
	r.t.Helper()
	p := r.start()
	r.until("ready")
	return p
}

// stop ends a worker in order.
func (p *program) stop() {
	p.t.Helper()
	p.signal(terminate)
	p.exits(0)
}

func TestKilledWhileTheModelHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "first"}, offline.Reply{Hang: true}, offline.Reply{Text: "third"})
	p := r.online()
	r.payload(message("q1", "one", nil))
	if status := r.finished(); status != "completed" {
		t.Fatal(status)
	}
	r.payload(message("q2", "two", nil))
	r.model.request(t, 2)
	saved := r.saved()
	p.kill()
	if r.saved() != saved {
		t.Error("a model call changed the disk")
	}
	p = r.restarted()
	if got := r.phase(); got != "ready" {
		t.Errorf("phase %q", got)
	}
	if r.hub.Events(); r.saved() != saved {
		t.Error("a restore changed the disk")
	}
	r.signal(object{"operation": "status"})
	if e := r.expect("status"); string(e.Value("active")) != "false" {
		t.Errorf("something runs by itself after a restore: %s", e.Data)
	}
	if !r.admitted("q3") || !strings.Contains(r.model.last(), `"one"`) {
		t.Error("the session does not go on from what was saved")
	}
	p.stop()
}

func TestKilledBeforeAnythingWasSaved(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true}, offline.Reply{Text: "ok"})
	p := r.online()
	r.payload(message("q1", "one", nil))
	r.model.request(t, 1)
	p.kill()
	if r.saved() != "" {
		t.Error("there is a state before the first boundary")
	}
	p = r.restarted()
	if !r.admitted("q1") { // the new process remembers no request of the old one
		t.Error("a fresh session takes no input")
	}
	p.stop()
}

func TestKilledWhileAToolRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects; echo $$ >>pids; echo up >ready; exec sleep 905", 600000)), offline.Reply{Text: "ok"})
	wait := meet(t, r.dir, "ready")
	p := r.online()
	r.payload(message("q1", "work", mode("approve")))
	wait("ready")
	orphan := watch(t, r.dir)
	for pid := range orphan {
		noWorkerFiles(t, pid)
	}
	p.kill()
	saved := r.saved()
	for pid := range orphan {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			t.Logf("the tool died with its worker: %v", err)
		}
	}
	p = r.restarted() // while the orphan may still run: it holds no lock
	if got := r.phase(); got != "tools" {
		t.Errorf("phase %q", got)
	}
	if r.admitted("q2") {
		t.Error("an input was accepted although the effects are uncertain")
	}
	r.payload(object{"operation": "continue", "request_id": "q3"})
	r.expect("input_rejected")
	if r.saved() != saved {
		t.Error("refused inputs changed the disk")
	}
	p.stop()
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects %v", got)
	}
	if got := r.phase(); got != "tools" {
		t.Errorf("phase after an orderly stop: %q; nobody has looked yet", got)
	}
}

// noWorkerFiles checks that a child has no descriptor of the worker's (BR-030).
func noWorkerFiles(t *testing.T, pid int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, _ := os.Readlink(filepath.Join(dir, e.Name()))
		if strings.Contains(target, "session") || strings.HasPrefix(target, "socket:") || strings.Contains(target, "eventpoll") {
			t.Errorf("descriptor %s of the child is %s", e.Name(), target)
		}
	}
}

func TestKilledBetweenCheckpointAndTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "ok"})
	p := r.online()
	r.payload(message("q1", "work", nil))
	r.asked() // before_tools is saved, nothing has run
	p.kill()
	if got := r.phase(); got != "tools" {
		t.Errorf("phase %q", got)
	}
	p = r.restarted()
	if r.admitted("q2") {
		t.Error("an input was accepted in phase tools")
	}
	p.stop()
	if got := r.effects(); len(got) != 0 {
		t.Errorf("effects %v", got)
	}
}

func TestKilledWithResultsSaved(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects; echo it-was-done", 20000)), offline.Reply{Hang: true}, offline.Reply{Text: "ok"})
	r.save = "{ on_step_finished: false }"
	p := r.online()
	r.payload(message("q1", "work", mode("approve")))
	r.model.request(t, 2) // the newest save is results_ready
	p.kill()
	if got := r.phase(); got != "projection" {
		t.Errorf("phase %q", got)
	}
	p = r.restarted()
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects after the restart: %v", got)
	}
	if !r.admitted("q2") {
		t.Error("saved results block the session")
	}
	if !strings.Contains(r.model.last(), "it-was-done") {
		t.Error("the saved result did not reach the model")
	}
	p.stop()
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects %v: a tool ran again", got)
	}
}

func TestContinueProjectsSavedResults(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects; echo it-was-done", 20000)), offline.Reply{Hang: true}, offline.Reply{Text: "ok"})
	r.save = "{ on_step_finished: false }"
	p := r.online()
	r.payload(message("q1", "work", mode("approve")))
	r.model.request(t, 2)
	p.kill()
	p = r.restarted()
	r.payload(object{"operation": "continue", "request_id": "q2"})
	if status := r.finished(); status != "completed" || !strings.Contains(r.model.last(), "it-was-done") {
		t.Errorf("continue: %s", status)
	}
	p.stop()
	if got := r.effects(); len(got) != 1 {
		t.Errorf("effects %v", got)
	}
}

// TestKilledAtEveryEvent kills the worker as soon as the Hub has its n-th event of a run
// with a tool. Wherever the kill really hits, the phase on disk decides what comes next,
// and the tool has run at most once.
func TestKilledAtEveryEvent(t *testing.T) {
	t.Parallel()
	events := []string{
		"ready", "input_admitted", "run_started", "input_committed", "model_response", "tool_calls",
		"before_tools", "results_ready", "tool_results", "step_finished", "second model_response", "run_finished saved", "run_finished",
	}
	for n, name := range events {
		if n == 0 {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "a"}, offline.Reply{Text: "b"}, offline.Reply{Text: "c"})
			p := r.online()
			r.payload(message("q1", "work", mode("approve")))
			for range n {
				if e := r.next(); e.Name == "run_finished" {
					break // a `persisted` was replaced in the queue
				}
			}
			p.kill()
			before := len(r.effects())
			phase := r.phase()
			if before > 0 && phase == "" {
				t.Error("a command ran and nothing was saved before")
			}
			p = r.restarted()
			took := r.admitted("q2")
			if want := phase != "tools" && phase != "blocked"; took != want {
				t.Errorf("phase %q on disk, and the input is admitted: %v", phase, took)
			}
			if after := len(r.effects()); after > 1 || after < before {
				t.Errorf("%d effects before the restart, %d after", before, after)
			}
			p.stop()
		})
	}
}

func TestTwoWorkersOnOneSession(t *testing.T) { // BR-025
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "ok"})
	first := r.online()
	second := launch(t, r.dir, "run", "--config", r.configuration(), "--session", "s1")
	second.exits(1)
	text := second.stderr.String()
	if !strings.Contains(text, filepath.Join(r.dir, "session")) || !strings.Contains(text, fmt.Sprint(first.cmd.Process.Pid)) {
		t.Errorf("the message names neither session nor holder: %s", text)
	}
	if r.saved() != "" {
		t.Error("the loser wrote a state")
	}
	if !r.admitted("q1") {
		t.Error("the holder does not work any more")
	}
	first.stop()
}
