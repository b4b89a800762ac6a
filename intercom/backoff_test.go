package intercom

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BR-033: fifty workers lose one Hub together. Whatever the attempt, no instant has more
// than a small share of them, and the ceiling grows to its maximum.
func TestBackoffSpreadsWorkers(t *testing.T) {
	t.Parallel()
	const workers, attempts = 50, 8
	random := rand.New(rand.NewPCG(1, 2))
	waits := make([][attempts]time.Duration, workers)
	for w := range waits {
		b := backoff{initial: 250 * time.Millisecond, max: 10 * time.Second, random: random.Float64}
		for a := range attempts {
			waits[w][a] = b.next()
		}
	}
	ceiling := 250 * time.Millisecond
	for a := range attempts {
		shares := [10]int{}
		for w := range workers {
			d := waits[w][a]
			if d < 0 || d >= ceiling {
				t.Fatalf("attempt %d waits %v, ceiling %v", a, d, ceiling)
			}
			shares[int(10*d/ceiling)]++
		}
		for tenth, n := range shares {
			if n > workers/4 {
				t.Errorf("attempt %d: %d of %d workers in tenth %d", a, n, workers, tenth)
			}
		}
		ceiling = min(2*ceiling, 10*time.Second)
	}
	if ceiling != 10*time.Second {
		t.Errorf("ceiling is %v", ceiling)
	}
}

func TestBackoffReset(t *testing.T) {
	t.Parallel()
	b := backoff{initial: time.Second, max: 3 * time.Second, random: func() float64 { return 1 }}
	for i, want := range []time.Duration{1, 2, 3, 3} {
		if d := b.next(); d != want*time.Second {
			t.Errorf("wait %d is %v", i, d)
		}
	}
	b.reset()
	if d := b.next(); d != time.Second {
		t.Errorf("after the reset: %v", d)
	}
}
