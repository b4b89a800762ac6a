//go:build crash

package crash

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Faults upon faults: an error in the request, a kill in its repeat, errors without end in
// the next, then peace.
func TestCompoundFaults(t *testing.T) {
	needStrace(t)
	rounds := 200
	if os.Getenv("SIMPLEX_LONG") != "" {
		rounds = 2000
	}
	b := &bench{tb: t, binary: build(t, ""), random: seeded(t)}
	all := operations()
	var f figures
	struck := 0
	for range rounds {
		op := all[b.random.IntN(len(all))]
		argument := op.begin(b)
		where := op.name
		for _, injection := range []string{"error=EIO:when=%d", "signal=KILL:when=%d", "error=EIO:when=%d+"} {
			call := calls[b.random.IntN(len(calls))]
			how := fmt.Sprintf(injection, 1+b.random.IntN(12))
			before := b.visible(op.id)
			a, killed, hit := b.strace(argument, call, how)
			where += ", " + call + " " + how
			if hit {
				struck++
			}
			if !killed {
				f.found(where, judge(a, before, b.visible(op.id), call))
			}
			f.found(where, b.violations())
		}
		f.points++
		f.found(where, b.finish(argument, op.name == "remove"))
		_ = os.RemoveAll(b.root)
	}
	report(t, "compound triples=%d faults_struck=%d %v", f.points, struck, &f)
	if f.violations > 0 || struck < rounds {
		t.Errorf("%d struck: %s", struck, strings.Join(f.first, "\n"))
	}
}
