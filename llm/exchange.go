package llm

import (
	"fmt"
	"sync/atomic"
)

// ExchangeIDs names the exchanges of one provider (§1.8). It may be used by several
// goroutines at once.
type ExchangeIDs struct {
	instance uint64
	count    atomic.Uint64
}

// NewExchangeIDs takes the half that all ids share from random.
func NewExchangeIDs(random func() uint64) *ExchangeIDs {
	return &ExchangeIDs{instance: random()}
}

// Next gives `xchg-<16 hex digits>-<decimal>`.
func (x *ExchangeIDs) Next() string {
	return fmt.Sprintf("xchg-%016x-%d", x.instance, x.count.Add(1))
}
