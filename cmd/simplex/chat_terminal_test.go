package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"simplex/llm/offline"
)

// dialogue is a chat in a real terminal.
type dialogue struct {
	*program
	keys   *os.File
	copied chan struct{} // closed when all that was shown is in stderr
	seen   int           // how much of the screen was looked at
}

// converseIn starts simplex chat with the scripted model of the rig in a new terminal.
func (r *rig) converseIn(args ...string) *dialogue {
	t := r.t
	t.Helper()
	file := writeFile(t, filepath.Join(r.dir, "chat.yaml"), fmt.Sprintf(`
driver_model: main
providers:
  main: { plugin: openai-chat, model: scripted, endpoint: { base_url: %q, auth: { scheme: none } }, retry: { max_attempts: 0 } }
persistence: { directory: session }
`, r.model.URL))
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &dialogue{keys: keys, copied: make(chan struct{})}
	d.program = launchWith(t, r.dir, func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, append([]string{"chat", "--config", file}, args...)...)
	_ = tty.Close()
	go func() {
		defer close(d.copied)
		_, _ = io.Copy(d.stderr, keys) // ends with EIO when nobody has the terminal open
	}()
	t.Cleanup(func() { // after the program's own end
		_ = d.cmd.Process.Kill()
		<-d.done
		<-d.copied
		_ = keys.Close()
	})
	return d
}

// sees waits for a text on the part of the screen that was not looked at yet.
func (d *dialogue) sees(text string) {
	d.t.Helper()
	found := d.stderr.await(deadline(d.t), d.copied, func(all string) bool {
		return strings.Contains(all[d.seen:], text)
	})
	all := d.stderr.String()
	if !found {
		d.t.Fatalf("%q does not show:\n%s", text, all[d.seen:])
	}
	d.seen += strings.Index(all[d.seen:], text) + len(text)
}

func (d *dialogue) types(keys string) {
	d.t.Helper()
	if _, err := io.WriteString(d.keys, keys); err != nil {
		d.t.Fatal(err)
	}
}

const (
	ctrlC         = "\x03"
	ctrlD         = "\x04"
	ctrlBackslash = "\x1c"
)

func TestChatInATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Text: "The first answer."},
		calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "I may not."},
		offline.Reply{Hang: true}, offline.Reply{Text: "Still here."})
	d := r.converseIn()
	d.sees("> ")
	d.types("first\n")
	d.sees("The first answer.")
	d.sees("> ")
	d.types("second\n")
	d.sees("?? allow run_command")
	d.sees("[y/N] ")
	d.types("n\n")
	d.sees("denied")
	d.sees("I may not.")
	d.sees("> ")
	d.types("third\n")
	r.model.request(t, 4)
	d.types(ctrlC)
	d.sees("cancelling")
	d.sees("run cancelled")
	d.sees("> ")
	d.types("fourth\n")
	d.sees("Still here.")
	d.sees("> ")
	d.types(ctrlC)
	d.exits(0)
	if got := r.effects(); len(got) > 0 {
		t.Errorf("the denied command ran: %v", got)
	}
	if r.phase() != "ready" || !strings.Contains(r.saved(), "fourth") {
		t.Error("the conversation was not saved")
	}
}

func TestSecondCtrlCLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo $$ >>pids; echo up >ready; exec sleep 906", 600000)))
	wait := meet(t, r.dir, "ready")
	d := r.converseIn("--approve")
	d.sees("> ")
	d.types("work\n")
	wait("ready")
	left := watch(t, r.dir)
	d.types(ctrlC) // a tool that runs is not cut off by a cancel
	d.sees("Ctrl-C again leaves")
	d.types(ctrlC)
	d.exits(1)
	left.over(t, 0)
	if r.phase() != "ready" {
		t.Errorf("phase %q: the batch did not drain to records", r.phase())
	}
}

func TestCtrlCAtAQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", "echo one >>effects", 20000)), offline.Reply{Text: "Still here."})
	d := r.converseIn()
	d.sees("> ")
	d.types("work\n")
	d.sees("[y/N] ")
	d.types(ctrlC)
	d.sees("run cancelled")
	d.sees("> ")
	d.types("y\n") // no answer any more: a prompt
	d.sees("Still here.")
	d.types(ctrlD)
	d.exits(0)
	if got := r.effects(); len(got) > 0 {
		t.Errorf("the command ran: %v", got)
	}
}

func TestCtrlDLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.converseIn()
	d.sees("> ")
	d.types(ctrlD)
	d.exits(0)
}

func TestTerminalIsNotSteeredByOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, calls(shell("c1", `printf '\033]0;stolen\007\033[2Jplain\r\n'`, 20000)),
		offline.Reply{Text: "done \x1b[31mred\x1b]52;c;eA==\x07"})
	d := r.converseIn("--approve", "--prompt", "go")
	d.sees("plain")
	d.sees("done ")
	d.exits(0)
	if screen := d.stderr.String(); strings.ContainsAny(screen, "\x1b\x07") {
		t.Errorf("control characters reach the terminal: %q", screen)
	}
}

func TestPasteOfSeveralLinesIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true})
	d := r.converseIn()
	d.sees("new session chat in ")
	d.sees("> ")
	d.types("line one\n")
	r.model.request(t, 1)
	d.types("line two\n\nline three\n")
	d.sees("-- not sent, as a run is under way (Ctrl-C cancels it): line two")
	d.sees("-- not sent, as a run is under way (Ctrl-C cancels it): line three")
	d.types(ctrlC)
	d.sees("^C\r\n-- cancelling the run; Ctrl-C again leaves")
	d.sees("> ")
	d.types(ctrlD)
	d.exits(0)
}

func TestCtrlBackslashLeavesInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true})
	d := r.converseIn()
	d.sees("> ")
	d.types(ctrlBackslash)
	d.exits(0)
	d = r.converseIn("--prompt", "go")
	r.model.request(t, 1)
	d.types(ctrlBackslash)
	d.exits(1)
	if screen := d.stderr.String(); strings.Contains(screen, "goroutine") {
		t.Errorf("the terminal shows %q", screen)
	}
}

func TestCancelOfTheOnePrompt(t *testing.T) {
	t.Parallel()
	r := newRig(t, offline.Reply{Hang: true})
	d := r.converseIn("--prompt", "go")
	r.model.request(t, 1)
	d.types(ctrlC)
	d.sees("^C\r\n-- cancelling the run\r\n")
	d.exits(1)
}
