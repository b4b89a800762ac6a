package llmtest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"simplex/llm"
)

// patience is how long a test waits for a timer that never comes, in real time.
const patience = 20 * time.Second

// Clock is an llm.Clock that stands still until Advance moves it.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	timers  []*timer
	changed chan struct{} // closed and replaced when a timer is armed
}

// NewClock starts at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), changed: make(chan struct{})}
}

type timer struct {
	clock *Clock
	f     func()
	after time.Duration
	due   time.Time
	armed bool
}

// Now implements llm.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements llm.Clock. f runs on the goroutine that calls Advance.
func (c *Clock) AfterFunc(d time.Duration, f func()) llm.Timer {
	t := &timer{clock: c, f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.arm(d)
	return t
}

func (t *timer) arm(d time.Duration) {
	t.after, t.due, t.armed = d, t.clock.now.Add(d), true
	if !slices.Contains(t.clock.timers, t) {
		t.clock.timers = append(t.clock.timers, t)
	}
	close(t.clock.changed)
	t.clock.changed = make(chan struct{})
}

// Stop implements llm.Timer.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	was := t.armed
	t.armed = false
	return was
}

// Reset implements llm.Timer.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	was := t.armed
	t.arm(d)
	return was
}

// Advance moves the clock and runs what has become due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*timer
	for _, t := range c.timers {
		if t.armed && !t.due.After(c.now) {
			t.armed = false
			due = append(due, t)
		}
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool { return !t.armed })
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

// Await returns once a timer that was set for exactly d is running.
func (c *Clock) Await(t testing.TB, d time.Duration) {
	t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		found := slices.ContainsFunc(c.timers, func(x *timer) bool { return x.armed && x.after == d })
		changed := c.changed
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no timer of %v was set", d)
		}
	}
}

// ArmedAt tells whether a timer is running that was set, or set again, at that time.
func (c *Clock) ArmedAt(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.timers, func(t *timer) bool { return t.armed && t.due.Add(-t.after).Equal(at) })
}
