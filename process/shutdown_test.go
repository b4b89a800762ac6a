package process

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"simplex/process/capture"
	"simplex/process/kin"
)

// stubborn is a script that shuts its eyes to TERM.
const stubborn = `trap "" TERM; `

func TestShutdownEndsGroups(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{Grace: 200 * time.Millisecond}), newGate(t)
	mark := fmt.Sprintf("MARK=groups-%d", os.Getpid())
	up := "echo up >" + g.path + "; "
	scripts := []string{
		up + "exec sleep 1000",                                                      // takes TERM
		stubborn + up + "while :; do sleep 1000; done",                              // has to be killed
		up + "(" + stubborn + up + "exec sleep 901) & exit 0",                       // BR-003: the leader is gone
		"sleep 901 & sleep 902 & " + up + "wait",                                    // BR-003
		up + "kill -STOP $$; sleep 1000",                                            // stopped
		"setsid sh -c '" + up + "exec sleep 903' & " + up + "wait; exec sleep 1000", // left the group, parent lives
	}
	var sessions []*Session
	for _, script := range scripts {
		spec := sh(script)
		spec.Environment = []string{mark}
		sessions = append(sessions, spawn(t, store, spec))
	}
	g.wait(t, len(scripts)+2)
	await(t, "the leader's exit", sessions[2].Exited())
	eventuallyStopped(t, sessions[4].Snapshot().PID)

	if err := store.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	for i, want := range []string{"SIGTERM", "SIGKILL", "", "SIGTERM", "SIGTERM", "SIGTERM"} {
		if got := sessions[i].Snapshot().Signal; got != want {
			t.Errorf("%s: ended by %q, want %q", scripts[i], got, want)
		}
	}
	if n := len(store.List()); n != 0 {
		t.Errorf("%d sessions left in the table", n)
	}
	if _, err := store.Spawn(context.Background(), sh(":")); !errors.Is(err, ErrStoreClosed) {
		t.Errorf("spawn after shutdown: %v", err)
	}
	if err := store.Shutdown(context.Background()); err != nil {
		t.Errorf("second shutdown: %v", err)
	}
}

func eventuallyStopped(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if slices.ContainsFunc(processes(t), func(e kin.Entry) bool { return e.PID == pid && e.State == 'T' }) {
			return
		}
	}
	t.Fatal("did not stop")
}

func TestShutdownKeepsWhatWasCaptured(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	s := spawn(t, store, sh("trap 'echo bye; exit 0' TERM; echo hello; echo up >"+g.path+"; while :; do sleep 1000 & wait; done"))
	g.wait(t, 1)
	if err := store.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if out := s.Read(capture.Stdout, true)[0]; string(out.Data) != "hello\nbye\n" || out.Truncated {
		t.Errorf("%+v", out)
	}
	if code := exitCode(t, s); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// BR-003: whoever cannot wait for the grace time still leaves nothing behind.
func TestCancelledShutdownSkipsTheGrace(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{Grace: time.Hour}), newGate(t)
	s := spawn(t, store, sh(stubborn+"echo up >"+g.path+"; while :; do sleep 1000; done"))
	g.wait(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- store.Shutdown(ctx) }()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the grace time was not cut short")
	}
	if snap := s.Snapshot(); snap.Signal != "SIGKILL" {
		t.Errorf("%+v", snap)
	}
}

func TestShutdownWaitsForLaunchesInFlight(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("MARK=flight-%d", os.Getpid())
	for range 5 {
		store := newStore(t, Config{})
		launched := make(chan int)
		go func() {
			n := 0
			for ; ; n++ {
				spec := LaunchSpec{Executable: "/bin/sleep", Arguments: []string{"1000"}, Environment: []string{mark}}
				if _, err := store.Spawn(context.Background(), spec); err != nil {
					break
				}
			}
			launched <- n
		}()
		for len(store.List()) == 0 {
			time.Sleep(0) // the spawner decides when; there is nothing to wait on
		}
		if err := store.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-launched
		if left := marked(t, mark); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
	}
}

func TestReleaseDuringShutdown(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	for range 10 {
		run(t, store, sh(":"))
	}
	var tasks sync.WaitGroup
	for _, s := range store.List() {
		tasks.Go(func() {
			if err := store.Release(s.ID()); err != nil && !errors.Is(err, ErrNoSession) {
				t.Error(err)
			}
		})
	}
	if err := store.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	tasks.Wait()
	if n := len(store.List()); n != 0 {
		t.Errorf("%d sessions left", n)
	}
}

// It is not parallel: every child of the operating system process is its prey, those
// of other tests, too.
func TestTerminateAllOnlySignals(t *testing.T) {
	store, g := newStore(t, Config{}), newGate(t)
	mark := fmt.Sprintf("MARK=all-%d", os.Getpid())
	spec := sh(stubborn + "sleep 904 & setsid sleep 905 & echo up >" + g.path + "; wait; wait")
	spec.Environment = []string{mark}
	s := spawn(t, store, spec)
	g.wait(t, 1)
	if n := store.TerminateAll(); n < 1 {
		t.Errorf("%d processes", n)
	}
	await(t, "death", s.Complete())
	if snap := s.Snapshot(); snap.Signal != "SIGKILL" || len(store.List()) != 1 {
		t.Errorf("%+v", snap)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// The tests with a Reaper are not parallel: adoption is the business of the
// whole operating system process.

func enableReaper(t testing.TB) *kin.Reaper {
	t.Helper()
	r, err := kin.EnableSubreaper(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// Double forks and setsid do not help: the host adopts what loses its parent.
func TestNoOrphanSurvivesShutdown(t *testing.T) {
	reaper, g := enableReaper(t), newGate(t)
	store := newStore(t, Config{Grace: 200 * time.Millisecond, Reaper: reaper})
	mark := fmt.Sprintf("MARK=orphans-%d", os.Getpid())
	up := "echo up >" + g.path + "; "
	scripts := []string{
		"setsid sh -c '" + up + "exec sleep 906' & exit 0",
		"(setsid sh -c '" + up + "(setsid sh -c \"" + up + "exec sleep 907\" &) ; exit 0' &) ; exit 0",
		"setsid sh -c 'trap \"\" TERM; " + up + "while :; do sleep 908; done' >/dev/null 2>&1 & exit 0",
	}
	for _, script := range scripts {
		spec := sh(script)
		spec.Environment = []string{mark}
		s := spawn(t, store, spec)
		await(t, "exit", s.Exited())
		if strings.Contains(script, "908") { // released sessions leave their escapees to the reaper
			if err := store.Release(s.ID()); err != nil {
				t.Fatal(err)
			}
		}
	}
	g.wait(t, 4)
	if len(marked(t, mark)) < 3 {
		t.Fatal("the escapees are not there")
	}
	if err := store.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if dead := zombies(t); len(dead) != 0 {
		t.Errorf("zombies: %v", dead)
	}
}

// Adopted orphans are reaped as they die, os/exec keeps its own.
func TestReaperLeavesOwnChildrenAlone(t *testing.T) {
	reaper := enableReaper(t)
	store := newStore(t, Config{Reaper: reaper})
	type started struct {
		cmd  *exec.Cmd
		code int
	}
	var own []started
	for i := range 20 {
		cmd := exec.Command("/bin/sh", "-c", "exit "+strconv.Itoa(i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		own = append(own, started{cmd, i})
		// Each leaves an orphan that dies at once.
		run(t, store, sh("(exec sh -c 'exit 3' >/dev/null 2>&1 </dev/null &) ; exit 0"))
	}
	reaper.Reap()           // a pass that sees the dead ones of os/exec
	for _, s := range own { // dead for long, and not waited for until now
		err := s.cmd.Wait()
		if failure, ok := errors.AsType[*exec.ExitError](err); (s.code != 0 && !ok) || (ok && failure.ExitCode() != s.code) {
			t.Errorf("child %d: %v", s.code, err)
		}
	}
	for _, s := range store.List() {
		if s.Snapshot().State != Exited {
			t.Errorf("%+v", s.Snapshot())
		}
	}
	for deadline := time.Now().Add(patience); len(zombies(t)) > 0; runtime.Gosched() { // reaped as they die
		if time.Now().After(deadline) {
			t.Fatalf("zombies: %v", zombies(t))
		}
	}
}

// Random trees of processes that move to other groups and sessions, lose their
// parents and ignore TERM: nothing is left. SIMPLEX_SOAK=n asks for n trees.
func TestRandomTrees(t *testing.T) {
	trees := 20
	if n, err := strconv.Atoi(os.Getenv("SIMPLEX_SOAK")); err == nil {
		trees = n
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	reaper := enableReaper(t)
	for done := 0; done < trees; done += 5 {
		g := newGate(t)
		store := newStore(t, Config{Grace: 100 * time.Millisecond, Reaper: reaper})
		mark := fmt.Sprintf("MARK=tree-%d-%d", os.Getpid(), done)
		total := 0
		for range 5 {
			tree := &tree{dir: t.TempDir(), gate: g.path, random: random}
			root := tree.grow(0)
			spec := sh("trap '' HUP; exec sh " + root) // else a terminal's end cuts growth short
			spec.Environment = []string{mark}
			spec.TTY = random.IntN(4) == 0
			spawn(t, store, spec)
			total += tree.nodes
		}
		g.wait(t, total)
		if err := store.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if left := marked(t, mark); len(left) != 0 {
			t.Fatalf("left of %d: %q", total, left)
		}
		if dead := zombies(t); len(dead) != 0 {
			t.Fatalf("zombies: %v", dead)
		}
	}
}

// tree writes one script per process of a random tree.
type tree struct {
	dir, gate string
	random    *rand.Rand
	nodes     int
}

func (tr *tree) grow(depth int) string {
	tr.nodes++
	path := filepath.Join(tr.dir, strconv.Itoa(tr.nodes)+".sh")
	var script strings.Builder
	pick := func(options ...string) string { return options[tr.random.IntN(len(options))] }
	script.WriteString(pick("", "", "trap '' TERM\n", "trap '' HUP\n", "trap '' TERM HUP\n"))
	if depth < 4 {
		for range tr.random.IntN(3) {
			fmt.Fprintf(&script, pick("sh %s &\n", "setsid sh %s &\n", "(sh %s &)\n", "(setsid sh %s &)\n",
				"nohup sh %s >/dev/null 2>&1 &\n"), tr.grow(depth+1))
		}
	}
	fmt.Fprintf(&script, "echo up >%s\n", tr.gate)
	script.WriteString(pick("exit 0\n", "exec sleep 1000\n", "while :; do sleep 1000; done\n", "wait\nwait\n", "kill -STOP $$\n"))
	if err := os.WriteFile(path, []byte(script.String()), 0o600); err != nil {
		panic(err)
	}
	return path
}

// Without a process table the groups still end, and the failure is told.
func TestBlindEnd(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	s := spawn(t, store, sh(stubborn+"echo up >"+g.path+"; while :; do sleep 1000; done"))
	g.wait(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	h := &hunt{store: store, sessions: store.List(), told: make(map[kin.Entry]bool)}
	h.blind(ctx)
	await(t, "death", s.Exited())
	if snap := s.Snapshot(); snap.Signal != "SIGKILL" {
		t.Errorf("%+v", snap)
	}
}
