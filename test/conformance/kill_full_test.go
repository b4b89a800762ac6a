package conformance

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"simplex/persistence/sqlitestore"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// TestFullDiskKeepsTheOldState is BR-024: a tmpfs of 1 MiB fills up under a worker. The
// old state can be read at any moment, the failure is told as one of the storage, and
// with space again the next worker saves.
func TestFullDiskKeepsTheOldState(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			count("11")
			fillUp(t, format)
		})
	}
}

func fillUp(t *testing.T, format string) {
	long := strings.Repeat("much to say ", 30000) // more than a log could have left over
	r := rig.New(t)
	r.Persistence = "format: " + format
	r.Model.Answer = func(_ int, body string) rig.Reply {
		if strings.Contains(body, "plenty") {
			return rig.Reply{Text: long, Calls: []rig.Call{rig.Shell("c1", "echo line >>effects")}}
		}
		return rig.Reply{Text: "ok"}
	}
	session := filepath.Join(r.Dir, "session")
	smallDisk(t, session)
	p := r.Online()
	r.Payload(rig.Message("q1", "first"))
	r.Completes()
	done := readAllTheTime(t, r, format)
	ballast := filepath.Join(session, "ballast")
	fillDisk(t, ballast)
	r.Payload(rig.Approved("q2", "plenty"))
	toldOfStorage(t, r, p)
	again := r.Start() // on the disk that is still full, in vain
	if format == "json" {
		r.Until("ready")
		r.Payload(rig.Approved("q3", "plenty"))
		toldOfStorage(t, r, again)
	} else if again.Exits(1); !strings.Contains(again.Stderr.String(), "no space left") {
		t.Errorf("%s", again.Stderr)
	}
	reads := done()
	if reads == 0 {
		t.Error("nobody read")
	}
	if got := r.Effects(); len(got) > 0 {
		t.Errorf("a command ran whose call could not be saved: %v", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	p = r.Online()
	r.Payload(rig.Message("q4", "second"))
	r.Completes()
	p.Stop()
	if got := len(stored(t, r, format).Turns); got != 2 {
		t.Errorf("%d turns", got)
	}
	t.Logf("%s: read %d times while the disk was full, each time whole", format, reads)
}

func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("this needs root, to mount a tmpfs")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fillDisk leaves no byte.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
}

// toldOfStorage waits for the worker's end, which must be told as a failure of storage,
// not as a tool's.
func toldOfStorage(t *testing.T, r *rig.Rig, p *rig.Program) {
	t.Helper()
	p.Exits(1)
	if err := r.Hub.Disconnected(rig.Deadline(t)); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range r.Hub.Rest() {
		switch {
		case e.Name == "error" && string(e.Value("durable")) == "false":
			told++
		case e.Name == "tool_results", e.Name == "persisted":
			t.Errorf("%s", e.Raw)
		case e.Name == "run_finished" && (e.Field("status") == "completed" || string(e.Value("durable")) != "false"):
			t.Errorf("%s", e.Raw)
		}
	}
	if told != 1 || !strings.Contains(p.Stderr.String(), "no space left") {
		t.Errorf("told %d times; %s", told, p.Stderr)
	}
}

// readAllTheTime reads the state, of one turn, until done is called, which tells how
// often.
func readAllTheTime(t *testing.T, r *rig.Rig, format string) (done func() int) {
	stop, ended, reads := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			turns, err := readTurns(t, r, format)
			if errors.Is(err, sqlitestore.ErrChanged) {
				continue // by contract: read again
			}
			if err != nil || turns != 1 {
				t.Errorf("after %d reads: %d turns, %v", reads, turns, err)
				return
			}
			reads++
		}
	}()
	var once sync.Once
	done = func() int {
		once.Do(func() { close(stop) })
		<-ended
		return reads
	}
	t.Cleanup(func() { done() }) // before the disk goes
	return done
}

func readTurns(t *testing.T, r *rig.Rig, format string) (int, error) {
	var text bytes.Buffer
	if format == "json" {
		raw, err := os.ReadFile(r.StatePath())
		if err != nil {
			return 0, err
		}
		text.Write(raw)
	} else {
		path := filepath.Join(filepath.Dir(r.StatePath()), sqlitestore.StateFile)
		if _, err := sqlitestore.Read(t.Context(), path, &text); err != nil {
			return 0, err
		}
	}
	st, err := state.Decode(text.Bytes())
	if err != nil {
		return 0, err
	}
	return len(st.Turns), nil
}
