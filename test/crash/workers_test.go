//go:build crash

package crash

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// struggles are the figures of rounds of workers against removals.
type struggles struct {
	figures
	removed, refused, kept, busy, kills, twoOwners int
	slowest                                        time.Duration
}

func (s *struggles) String() string {
	return fmt.Sprintf("rounds=%d removed_at_once=%d workers_refused=%d worker_kept_it=%d busy_answers=%d kills=%d two_owners=%d max_lease_release_ms=%d %v",
		s.points, s.removed, s.refused, s.kept, s.busy, s.kills, s.twoOwners, s.slowest.Milliseconds(), &s.figures)
}

// fight lets workers start, removals come and SIGKILL strike, each when it likes within
// the time that a worker takes to start. It gives the workers and the answers.
func (b *bench) fight(start time.Duration) (workers []*worker, answers []answer) {
	started, answered := make(chan *worker), make(chan answer)
	chance := func(longest time.Duration) time.Duration { return time.Duration(b.random.Int64N(int64(longest))) }
	nWorkers, nRemovals := 1+b.random.IntN(2), 1+b.random.IntN(2)
	for range nWorkers {
		delay, mortal, life := chance(start), b.random.IntN(4) > 0, chance(2*start)
		go func() {
			time.Sleep(delay)
			w, err := b.work()
			if err != nil {
				b.tb.Error(err)
			} else if mortal && !w.within(life) {
				w.kill()
			}
			started <- w
		}()
	}
	for range nRemovals {
		delay := chance(2 * start)
		go func() {
			time.Sleep(delay)
			answered <- b.run(b.request("remove", "a", ""))
		}()
	}
	for range nWorkers {
		if w := <-started; w != nil {
			workers = append(workers, w)
		}
	}
	for range nRemovals {
		answers = append(answers, <-answered)
	}
	return workers, answers
}

// round is one fight and what must be true after it (manager.md, "Locks"): a removal that
// passed leaves a tombstone and no worker, a worker that is there makes it busy, and a
// worker's death frees the allocation.
func (s *struggles) round(b *bench, start time.Duration) {
	b.fresh()
	if a := b.run(b.employed()); a.code != "" {
		b.tb.Fatal(a.text)
	}
	s.points++
	where := fmt.Sprintf("round %d", s.points)
	workers, answers := b.fight(start)
	defer func() {
		for _, w := range workers {
			w.kill()
		}
	}()
	removed := s.hear(where, answers)
	s.settle(b, where, workers, removed)
	s.found(where, b.finish(b.request("remove", "a", ""), true))
	late, err := b.work()
	if err != nil {
		b.tb.Fatal(err)
	}
	workers = append(workers, late)
	if _, err := os.Lstat(b.dir("a")); !late.within(5*time.Second) || !errors.Is(err, os.ErrNotExist) {
		s.found(where, []string{"a worker runs on a retired allocation"})
	}
	s.found(where, late.refusal())
	_ = os.RemoveAll(b.root)
}

// hear takes the answers in and tells whether a removal passed.
func (s *struggles) hear(where string, answers []answer) bool {
	var firsts, passed int
	for _, a := range answers {
		switch {
		case a.code == "":
			passed++
			if string(a.result["removed"]) == "true" {
				firsts++
			}
		case a.code == "busy" && a.published != nil && !*a.published:
			s.busy++
		default:
			s.found(where, []string{"another code: " + a.text})
		}
	}
	if passed > 0 && firsts != 1 {
		s.found(where, []string{fmt.Sprintf("not repeatable: %d answers say that they removed it", firsts)})
	}
	return passed > 0
}

// remaining waits until no more workers are there than may be, and gives those that are.
func remaining(workers []*worker, one bool) (alive []*worker) {
	timer := time.NewTimer(released)
	defer timer.Stop()
	for {
		alive = slices.DeleteFunc(slices.Clone(workers), func(w *worker) bool { return w.within(0) })
		if len(alive) == 0 || one && len(alive) == 1 {
			return alive
		}
		select {
		case <-alive[0].ended:
		case <-alive[len(alive)-1].ended:
		case <-timer.C:
			return alive
		}
	}
}

// settle waits until at most the one owner is left, ends it, and sees the lease go.
func (s *struggles) settle(b *bench, where string, workers []*worker, removed bool) {
	owners := len(remaining(workers, !removed))
	if removed {
		s.removed++
		if owners > 0 {
			s.twoOwners++
			s.found(where, []string{"outside: a worker runs on although the allocation was removed"})
		}
	}
	if owners > 1 {
		s.twoOwners++
		s.found(where, []string{"two workers have one session"})
	}
	if owners == 1 && !removed {
		s.kept++
		s.found(where, b.unsound())
		if a := b.run(b.request("remove", "a", "")); a.code != "busy" || a.published == nil || *a.published {
			s.found(where, []string{"another code beside a worker: " + a.text})
		}
	}
	for _, w := range workers {
		w.kill()
		if w.cmd.ProcessState.ExitCode() == 1 {
			s.refused++
		}
		if w.killed {
			s.kills++
		}
		s.found(where, w.refusal())
	}
	died := time.Now()
	for b.run(b.request("remove", "a", "")).code == "busy" {
		if time.Since(died) > released {
			s.found(where, []string{"not repeatable: the lease outlives its worker"})
			return
		}
	}
	s.slowest = max(s.slowest, time.Since(died))
}

// startTime is how long a worker takes here until it has its lease.
func (b *bench) startTime() time.Duration {
	b.tb.Helper()
	b.fresh()
	if a := b.run(b.employed()); a.code != "" {
		b.tb.Fatal(a.text)
	}
	begun := time.Now()
	w, err := b.work()
	if err != nil {
		b.tb.Fatal(err)
	}
	defer w.kill()
	for time.Since(begun) < 30*time.Second {
		if a := b.run(b.request("inspect", "a", "")); string(a.result["lease"]) == `"held"` {
			return time.Since(begun)
		}
	}
	w.kill()
	b.tb.Fatalf("no worker started: %s", &w.stderr)
	return 0
}

func fightRounds() int {
	if os.Getenv("SIMPLEX_LONG") != "" {
		return 300
	}
	return 20
}

// A real worker starts while the allocation is removed, and dies when it likes.
func TestWorkersAgainstRemoval(t *testing.T) {
	b := &bench{tb: t, binary: build(t, ""), random: seeded(t)}
	start := b.startTime()
	s := &struggles{}
	for range fightRounds() {
		s.round(b, start)
	}
	report(t, "races   workers start_ms=%d %v", start.Milliseconds(), s)
	if s.violations > 0 || s.removed == 0 || s.busy+s.kept == 0 {
		t.Errorf("%v: %s", s, strings.Join(s.first, "\n"))
	}
}

// A removal that takes no lock away from workers must be seen.
func TestWorkersAgainstRemovalSeePlantedFault(t *testing.T) {
	p := planted{
		name: "a removal beside a worker", file: "manager/session.go", old: `s.mgr.LockFile(s.id()+lockSuffix, safepath.Exclusive, true)`,
		new: `s.mgr.LockFile(s.id()+lockSuffix, safepath.Shared, true)`, more: []string{`func (s *session) guardRoot() (err error) {
`, `func (s *session) guardRoot() (err error) {
	if s != nil {
		return nil
	}
`},
	}
	b := &bench{tb: t, binary: build(t, p.overlay(t)), random: seeded(t)}
	start := b.startTime()
	s := &struggles{}
	for range fightRounds() {
		if s.round(b, start); s.twoOwners > 0 {
			break
		}
	}
	report(t, "control races: %-30s rounds=%d two_owners=%d", p.name, s.points, s.twoOwners)
	if s.twoOwners == 0 {
		t.Errorf("%s was not seen in %d rounds", p.name, s.points)
	}
}
