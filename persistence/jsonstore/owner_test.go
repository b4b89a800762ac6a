package jsonstore_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"simplex/persistence/jsonstore"
	"simplex/persistence/storetest"
)

func openAndLoad(t *testing.T, cfg jsonstore.Config) error {
	t.Helper()
	store, err := jsonstore.Open(cfg)
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = store.Load(t.Context())
	return err
}

// contender is a process that tries to own the session.
type contender struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	answer chan string // its first line, "" when it ended without one
	stderr bytes.Buffer
}

func contend(t *testing.T, root string) *contender {
	t.Helper()
	c := &contender{cmd: childCommand(t, "own", root), answer: make(chan string, 1)}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin, c.cmd.Stderr = in, &c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		line := make([]byte, len("mine\n"))
		n, _ := io.ReadFull(out, line)
		c.answer <- string(line[:n])
	}()
	return c
}

// BR-025: of two processes that open one session exactly one gets it; the other says
// which session and who has it.
func TestTwoProcessesTwentyTimes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	for round := range 20 {
		pair := []*contender{contend(t, root), contend(t, root)}
		answers := []string{<-pair[0].answer, <-pair[1].answer}
		winner := 0
		if answers[1] == "mine\n" {
			winner = 1
		}
		loser := 1 - winner
		if answers[winner] != "mine\n" || answers[loser] != "" {
			t.Fatalf("round %d: the answers are %q", round, answers)
		}
		if err := pair[loser].cmd.Wait(); err == nil {
			t.Errorf("round %d: the loser ended well", round)
		}
		said := pair[loser].stderr.String()
		if !strings.Contains(said, root) || !strings.Contains(said, "in use") {
			t.Errorf("round %d: the loser says %q", round, said)
		}
		if !strings.Contains(said, "process ") {
			t.Errorf("round %d: the holder is not named: %q", round, said)
		}
		_ = pair[winner].stdin.Close()
		if err := pair[winner].cmd.Wait(); err != nil {
			t.Errorf("round %d: the winner: %v\n%s", round, err, pair[winner].stderr.String())
		}
	}
}

func TestKilledOwnerFreesTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	c := contend(t, root)
	if got := <-c.answer; got != "mine\n" {
		t.Fatalf("%q\n%s", got, c.stderr.String())
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); !killed(err) {
		t.Fatalf("not killed: %v", err)
	}
	mustOpen(t, config(root))
}

// BR-027: a state directory that cannot be written is refused at the start, by name.
func TestUnwritableStateDirectoryIsRefusedAtOpen(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "jsonstore-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	mustSaveIn(t, root, storetest.Session(1))
	for name, mode := range map[string]os.FileMode{
		root: 0o777, filepath.Join(root, "state"): 0o555, filepath.Join(root, "session.lock"): 0o666, statePath(root): 0o644,
	} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := childCommand(t, "nobody", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
