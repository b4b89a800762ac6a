package replay

import "sync"

// Lender keeps the Builder that remembers the conversation of a provider.
type Lender struct {
	fresh   func() Form
	mu      sync.Mutex // held by the exchange that uses builder
	builder *Builder
}

// NewLender makes forms by fresh.
func NewLender(fresh func() Form) *Lender {
	return &Lender{fresh: fresh, builder: New(fresh())}
}

// Borrow gives the Builder and what returns it; while another exchange uses it, a
// fresh one.
func (l *Lender) Borrow() (*Builder, func()) {
	if l.mu.TryLock() {
		return l.builder, l.mu.Unlock
	}
	return New(l.fresh()), func() {}
}
