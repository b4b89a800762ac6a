package exec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/test/conformance/rig"
)

// An orderly end leaves no descendant, whatever group or session it moved to and
// whatever it ignores (BR-003).
func TestNoOrphanOutlivesTheWorker(t *testing.T) {
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	var forests []*forest
	for n := range sized(4, 20) {
		forests = append(forests, plant(t, n))
	}
	for n, f := range forests { // all at once: each may take its grace time
		f.worker.Signal(signals[n%len(signals)])
	}
	for n, f := range forests {
		f.worker.Exits(0)
		for pid, line := range marked(t, f.mark) {
			t.Errorf("round %d: left of %d: %d %s", n, f.total, pid, line)
		}
	}
}

// Nobody can end the descendants of a worker that is killed. But none of them has
// anything of the worker's: the next one starts at once.
func TestOrphansHoldNothingOfAKilledWorker(t *testing.T) {
	for n := range sized(4, 20) {
		f := plant(t, n)
		f.worker.Kill()
		left := marked(t, f.mark)
		if len(left) == 0 {
			t.Logf("round %d: nothing is left of %d", n, f.total)
		}
		for pid := range left {
			f.holdsNothing(t, pid)
		}
		next := f.rig.Online()
		next.Stop()
		uproot(t, f.mark)
	}
}

// forest is a worker whose tool calls have grown random process trees.
type forest struct {
	rig    *rig.Rig
	worker *rig.Program
	mark   string
	total  int
}

const treesEach = 5

// plant starts a worker and waits until all its trees have grown. Odd numbers store the
// session in a database, even ones in a file.
func plant(t *testing.T, n int) *forest {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("round %d: seed %d", n, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	must(t, unix.Mkfifo(gate, 0o600))
	f := &forest{mark: fmt.Sprintf("FOREST=%d-%d", os.Getpid(), desks.Add(1))}
	t.Cleanup(func() { uproot(t, f.mark) })
	var calls []rig.Call
	for i := range treesEach {
		tr := &tree{dir: dir, gate: gate, random: random, name: strconv.Itoa(i)}
		// Ignoring HUP, the end of a terminal does not cut the growth short.
		line := fmt.Sprintf("trap '' HUP; exec env %s sh %s", f.mark, tr.grow(0))
		calls = append(calls, background(strconv.Itoa(i), line, random.IntN(3) == 0))
		f.total += tr.nodes
	}
	f.rig = rig.New(t, rig.Reply{Text: "Growing.", Calls: calls}, rig.Reply{Text: "Grown."})
	if n%2 == 1 {
		f.rig.Persistence = "format: sqlite"
	}
	f.worker = f.rig.Online()
	up, err := os.OpenFile(gate, os.O_RDWR, 0) // for both, so that it does not end
	must(t, err)
	defer func() { _ = up.Close() }()
	f.rig.Payload(rig.Approved("q"+strconv.Itoa(n), "grow"))
	f.rig.Completes()
	must(t, up.SetReadDeadline(time.Now().Add(patience)))
	one := make([]byte, 1)
	for grown := 0; grown < f.total; {
		if _, err := up.Read(one); err != nil {
			t.Fatalf("%d of %d are up: %v", grown, f.total, err)
		}
		if one[0] == '\n' {
			grown++
		}
	}
	return f
}

// holdsNothing checks the descriptors of a process that has lost its worker.
func (f *forest) holdsNothing(t *testing.T, pid int) {
	t.Helper()
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	must(t, err)
	session := filepath.Join(f.rig.Dir, "session")
	for _, fd := range list {
		target, err := os.Readlink(fd)
		if err != nil {
			continue // it ended meanwhile
		}
		if strings.HasPrefix(target, session) || strings.HasPrefix(target, "socket:") || strings.Contains(target, "eventpoll") ||
			strings.Contains(target, "ptmx") || strings.Contains(target, "pidfd") {
			t.Errorf("%d holds %s as %s", pid, target, filepath.Base(fd))
		}
	}
}

// background is a model's call of run_command that waits for nothing.
func background(id, line string, tty bool) rig.Call {
	c := command(id, line, tty)
	c.Arguments = strings.Replace(c.Arguments, strconv.FormatInt(10*patience.Milliseconds(), 10), "0", 1)
	return c
}

// tree writes one script for each process of a random tree.
type tree struct {
	dir, gate, name string
	random          *rand.Rand
	nodes           int
}

func (tr *tree) grow(depth int) string {
	tr.nodes++
	path := filepath.Join(tr.dir, fmt.Sprintf("%s-%d.sh", tr.name, tr.nodes))
	pick := func(options ...string) string { return options[tr.random.IntN(len(options))] }
	var script strings.Builder
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
		panic(err) // the temporary directory is gone
	}
	return path
}
