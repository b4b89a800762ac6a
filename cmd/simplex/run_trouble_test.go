package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/llm/offline"
)

func TestStorageFailureStopsTheWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "ok"}, calls(shell("c1", "echo one >>effects", 20000)))
	p := r.online()
	if !r.admitted("q1") {
		t.Fatal("the first run fails")
	}
	// A directory in the file's place refuses every rename over it.
	file := filepath.Join(r.dir, "session", "state", "state.json")
	if err := os.Rename(file, file+".kept"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(file, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.payload(message("q2", "work", mode("approve")))
	p.exits(1)
	events := r.hub.Events()
	told := false
	for _, e := range events {
		told = told || e.Name == "error" && string(e.Value("durable")) == "false" && e.Field("message") != ""
	}
	end := events[len(events)-1]
	if !told || end.Name != "run_finished" || string(end.Value("durable")) != "false" || end.Field("status") == "completed" {
		t.Errorf("told: %v, last event %s", told, end.Raw)
	}
	if got := r.effects(); len(got) > 0 {
		t.Errorf("a command ran without its checkpoint: %v", got)
	}
	if !strings.Contains(p.stderr.String(), "state.json") {
		t.Error("standard error does not name the file")
	}
}

func TestUnreadableSessionDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	writeFile(t, filepath.Join(r.dir, "session"), "a file\n")
	p := r.start()
	p.exits(1)
	if !strings.Contains(p.stderr.String(), filepath.Join(r.dir, "session")) {
		t.Errorf("stderr does not name the directory: %s", p.stderr)
	}
	if len(r.hub.Events()) > 0 || readFile(t, filepath.Join(r.dir, "session")) != "a file\n" {
		t.Error("the worker went on")
	}
}

func TestPayloadsBeyondTheQueueAreRejected(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "one"}, offline.Reply{Text: "two"})
	r.payloads = 1
	release := r.model.hold(1)
	p := r.online()
	r.payload(message("q1", "one", nil))
	r.model.request(t, 1)
	r.payload(message("q2", "two", nil))
	r.payload(message("q3", "three", nil))
	rejected := r.until("input_rejected")
	last := rejected[len(rejected)-1]
	if last.Field("code") != "payload_queue_full" || last.RequestID != "q3" || last.RunID != "" {
		t.Errorf("rejected %s", last.Raw)
	}
	r.signal(object{"operation": "status"})
	if e := r.expect("status"); string(e.Value("rejected_payloads")) != "1" || string(e.Value("active")) != "true" {
		t.Errorf("status %s", e.Data)
	}
	release()
	for _, id := range []string{"q1", "q2"} { // first in, first out
		events := r.until("run_finished")
		if end := events[len(events)-1]; end.RequestID != id || end.Field("status") != "completed" {
			t.Errorf("run_finished %s, want that of %s", end.Raw, id)
		}
	}
	p.stop()
}

func TestWorkerOutlivesAClosedStandardError(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "ok"})
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := launchWith(t, r.dir, func(c *exec.Cmd) { c.Stderr = write }, "run", "-c", r.configuration(), "-s", "s1", "--log-level", "debug")
	r.expect("ready")
	_, _ = write.Close(), read.Close()
	r.hub.Drop() // something to log
	if err := r.hub.Connected(deadline(t), 2); err != nil {
		t.Fatal(err)
	}
	if !r.admitted("q1") {
		t.Error("the worker does not work any more")
	}
	p.stop()
}

func TestTwoChatsOnOneSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "Hello."})
	first := r.converseIn()
	first.sees("> ")
	second := launch(t, r.dir, "chat", "--config", filepath.Join(r.dir, "chat.yaml"), "--prompt", "hi")
	second.exits(1)
	text := second.stderr.String()
	if !strings.Contains(text, filepath.Join(r.dir, "session")) || !strings.Contains(text, fmt.Sprint(first.cmd.Process.Pid)) {
		t.Errorf("the message names neither session nor holder: %s", text)
	}
	first.types("hi\n")
	first.sees("Hello.")
	first.types(ctrlD)
	first.exits(0)
}

func TestPromptThatCannotBeSentIsNotSilent(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "Hello."})
	d := r.converseIn()
	d.sees("> ")
	d.types("a\xffb\n")
	if found := d.stderr.await(deadline(t), d.copied, func(all string) bool {
		return strings.Contains(all, "could not be sent") || strings.Contains(all, "Hello.") || strings.Contains(all, "UTF-8")
	}); !found {
		t.Errorf("text that is no UTF-8 vanishes without a word: %q", d.stderr)
	}
	d.types(ctrlD)
	d.exits(0)
	p := launch(t, r.dir, "chat", "--offline", "--approve", "--prompt", "a\xffb")
	if p.wait(patience) == 1 && !strings.Contains(p.stderr.String(), "UTF-8") && !strings.Contains(p.stderr.String(), "could not be sent") {
		t.Errorf("stderr %q", p.stderr)
	}
}

func TestChatStopsInOrderOnSignals(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{
		"SIGTERM": terminate, "SIGHUP": hangup, "SIGINT": interrupt, "SIGQUIT": syscall.SIGQUIT,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, offline.Reply{Hang: true})
			dir := t.TempDir()
			p := launchWith(t, dir, withKey, "chat", "--config", endpointConfig(t, dir, r.model.URL), "--prompt", "hi")
			r.model.request(t, 1)
			p.signal(signal)
			p.exits(1) // there is no answer
			raw := readFile(t, filepath.Join(dir, "session", "state", "state.json"))
			if !strings.Contains(raw, `"cancelled"`) || p.stdout.String() != "" {
				t.Errorf("stdout %q, state %.300s", p.stdout, raw)
			}
		})
	}
}
