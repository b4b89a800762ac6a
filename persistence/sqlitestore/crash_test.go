package sqlitestore_test

import (
	"bufio"
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"simplex/persistence"
	"simplex/persistence/storetest"
	"simplex/state"
)

// afterSaves lists the documents of a session that had that many turns and then got one
// more: before, and after each of its saves.
func afterSaves(t *testing.T, prior *state.State) []string {
	t.Helper()
	docs := []string{storetest.Text(t, prior)}
	st := prior.Clone()
	must(t, toolTurn(st, func(persistence.Boundary) error {
		docs = append(docs, storetest.Text(t, st))
		return nil
	}, 400))
	return docs
}

// acknowledged counts the saves that a child told of before it died.
func acknowledged(out []byte) int { return bytes.Count(out, []byte("\n")) }

// Killed at every labelled call, statements of transactions included: the next process
// gets the lock, finds what was acknowledged or one save more, and leaves no log behind.
func TestKillAtEveryCall(t *testing.T) {
	t.Parallel()
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for _, prior := range []int{0, 2} {
		docs := afterSaves(t, storetest.Session(prior))
		points, more := 0, 0
		for n := 1; ; n += stride {
			root := filepath.Join(memoryDir(t), "session")
			if prior > 0 {
				mustSaveIn(t, root, storetest.Session(prior))
			}
			out, err := childCommand(t, "save", root, strconv.Itoa(n)).Output()
			if err == nil {
				break
			}
			if !killed(err) {
				t.Fatalf("point %d: the child was not killed: %v", n, err)
			}
			points++
			got := docs[0]
			if st := mustLoad(t, root); st != nil {
				got = storetest.Text(t, st)
			}
			acked := acknowledged(out)
			switch {
			case got == docs[acked]:
			case acked+1 < len(docs) && got == docs[acked+1]:
				more++
			default:
				t.Errorf("%d turns before, point %d: after %d acknowledged saves there is\n%s", prior, n, acked, got)
			}
			for _, name := range names(t, root) {
				if name != "state.db" {
					t.Errorf("point %d: left behind: %s", n, name)
				}
			}
		}
		t.Logf("%d turns before: %d points, every child seen dead; %d times one save more than acknowledged", prior, points, more)
		if points == 0 || more == 0 && stride == 1 {
			t.Errorf("%d turns before: the kills missed a side: %d points, %d saves more", prior, points, more)
		}
	}
}

// Killed from outside at any time, in the middle of system calls: no acknowledged save is
// lost, at most one more is there, nothing is damaged.
func TestKillAtRandomTimes(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	root := memoryDir(t)
	total, more := int64(0), 0
	for round := range rounds {
		cmd := childCommand(t, "many", root, "1000")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		acked := int64(0)
		for last := rand.Int64N(60); acked < last && lines.Scan(); acked++ {
		}
		for range rand.IntN(20000) { // somewhere between two lines
			_ = os.Getpid()
		}
		must(t, cmd.Process.Kill())
		for lines.Scan() {
			acked++
		}
		if err := cmd.Wait(); !killed(err) {
			t.Fatalf("round %d: %v", round, err)
		}
		if acked == 0 && total == 0 {
			if _, err := load(t, root); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			continue
		}
		_, info := mustRead(t, statePath(root))
		switch info.Revision - total {
		case acked:
		case acked + 1:
			more++
		default:
			t.Fatalf("round %d: %d saves on top of %d were acknowledged, the revision is %d", round, acked, total, info.Revision)
		}
		total = info.Revision
		mustLoad(t, root)
	}
	t.Logf("%d kills, %d saves: 0 lost, 0 damaged, %d times one save more than acknowledged", rounds, total, more)
}

// The kernel fails writes and fsyncs of the database and its log, once and for ever: the
// failure is told, no acknowledged save is lost, and the next process goes on.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil || testing.Short() {
		t.Skip("needs strace, and time")
	}
	cases, failed, saves := 0, 0, 0
	for _, fault := range []string{"fsync,fdatasync:error=EIO", "pwrite64:error=EIO", "pwrite64:error=ENOSPC"} {
		for _, when := range []string{"1", "8", "24", "64", "6+", "40+"} {
			told, acked := diskFault(t, strace, fault+":when="+when)
			cases++
			saves += acked
			if told {
				failed++
			}
		}
	}
	t.Logf("%d faults, %d of them reached a save and were told; %d acknowledged saves: 0 lost, 0 damaged", cases, failed, saves)
	if failed < cases/4 {
		t.Error("the faults do not reach the saves")
	}
}

func diskFault(t *testing.T, strace, inject string) (told bool, acked int) {
	t.Helper()
	root := memoryDir(t)
	mustSaveIn(t, root, storetest.Session(1))
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", os.DevNull,
		"-e", "trace=fsync,fdatasync,pwrite64", "-e", "inject="+inject, os.Args[0], root, "10")
	cmd.Env = childEnv("many")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && strings.Contains(said.String(), "PTRACE") {
		t.Skip(said.String())
	}
	acked = acknowledged(out)
	_, info := mustRead(t, statePath(root))
	if n := info.Revision - 2; n != int64(acked) && n != int64(acked)+1 {
		t.Errorf("%s: %d acknowledged saves, %d are there\n%s", inject, acked, n, said.String())
	}
	if err != nil && !strings.Contains(said.String(), "input/output error") && !strings.Contains(said.String(), "no space left") {
		t.Errorf("%s: the failure is not told as one: %q", inject, said.String())
	}
	mustLoad(t, root)
	if out, err := childCommand(t, "many", root, "1").CombinedOutput(); err != nil {
		t.Errorf("%s: the next owner: %v\n%s", inject, err, out)
	}
	return err != nil, acked
}

// One fsync for a save, whatever the history, and no file opened for it.
func TestOneSyncForASave(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	syncs := func(turns int) int {
		root, trace := memoryDir(t), filepath.Join(memoryDir(t), "trace")
		mustSaveIn(t, root, storetest.Session(1))
		cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync", os.Args[0], root, strconv.Itoa(turns))
		cmd.Env = childEnv("many")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v %s", err, out)
		}
		raw, err := os.ReadFile(trace)
		must(t, err)
		return strings.Count(string(raw), "sync(")
	}
	few, many := syncs(1), syncs(11)
	t.Logf("%d fsyncs for an owner that makes 4 saves, %d for 44", few, many)
	if many-few != 40 {
		t.Errorf("40 saves more cost %d fsyncs", many-few)
	}
}

func TestKilledOwnerFreesTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	root := crashed(t)
	store := mustOpen(t, config(root))
	if _, err := store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, root); !errors.Is(err, persistence.ErrInUse) {
		t.Errorf("%v", err)
	}
}
