package intercom

import "time"

// backoff is the wait between connection attempts: the ceiling doubles from initial to
// max, and the wait is anywhere below it (full jitter), so that workers which lost one
// Hub together do not come back together.
type backoff struct {
	initial, max time.Duration
	random       func() float64 // in [0, 1)
	ceiling      time.Duration  // of the next wait; 0 = initial
}

// next is the wait before the next attempt.
func (b *backoff) next() time.Duration {
	if b.ceiling == 0 {
		b.ceiling = b.initial
	}
	wait := time.Duration(b.random() * float64(b.ceiling))
	b.ceiling = min(2*b.ceiling, b.max)
	return wait
}

// reset makes the next wait an initial one.
func (b *backoff) reset() { b.ceiling = 0 }
