package compact

import (
	"errors"
	"fmt"
	"sync/atomic"

	"simplex/loop"
	"simplex/wire"
)

// Why no further automatic compaction is made (worker-data.md §3.9). Error texts begin
// with these words.
var (
	ErrTooFrequent = errors.New("auto_compact_too_frequent")
	ErrLimit       = errors.New("auto_compact_limit")
)

// AutoConfig is the configured part of the automatic controller.
type AutoConfig struct {
	Threshold    uint64 // worker.auto_compact_threshold, tokens
	MaxExchanges uint64 // worker.max_exchanges, per segment
	Limit        uint64 // worker.max_auto_compactions, per request
}

// Auto decides about the automatic compactions of one request. Counters may be called from
// any goroutine, the rest from the request's own.
type Auto struct {
	cfg                 AutoConfig
	attempts, succeeded atomic.Uint64
}

// NewAuto starts the controller of a request.
func NewAuto(cfg AutoConfig) *Auto { return &Auto{cfg: cfg} }

// Counters is the auto_compact object of status and run_finished.
func (a *Auto) Counters() wire.AutoCompact {
	return wire.AutoCompact{
		Attempts: a.attempts.Load(), Succeeded: a.succeeded.Load(),
		Limit: a.cfg.Limit, Threshold: a.cfg.Threshold,
	}
}

// Trigger says why a compaction is made. Encoded it is the arguments of the pseudo call.
type Trigger struct {
	Reason             string  `json:"reason"` // loop.ReasonTokenThreshold or loop.ReasonExchangeLimit
	Threshold          uint64  `json:"threshold"`
	MaxExchanges       uint64  `json:"max_exchanges"`
	SegmentExchanges   uint64  `json:"segment_exchanges"`
	LastExchangeTokens *uint64 `json:"last_exchange_tokens"` // null when unknown
	Cycle              uint64  `json:"cycle"`                // from 1
	Succeeded          uint64  `json:"succeeded"`
	Limit              uint64  `json:"limit"`
}

// Admit judges a segment that ended as auto_compact_required and counts an attempt. Errors:
// ErrTooFrequent where a compaction bought a single exchange only, ErrLimit where all are
// used up.
func (a *Auto) Admit(segment loop.Outcome) (Trigger, error) {
	attempts, succeeded := a.attempts.Load(), a.succeeded.Load()
	if succeeded > 0 && segment.Exchanges == 1 {
		return Trigger{}, fmt.Errorf("%w: the first exchange after a compaction asks for another one (%s); "+
			"what stands in the context after it is too large for the threshold of %d tokens", ErrTooFrequent, segment.Reason, a.cfg.Threshold)
	}
	if attempts >= a.cfg.Limit {
		return Trigger{}, fmt.Errorf("%w: this request made %d automatic compactions and may not make another one (%s)",
			ErrLimit, attempts, segment.Reason)
	}
	a.attempts.Add(1)
	return Trigger{
		Reason: segment.Reason, Threshold: a.cfg.Threshold, MaxExchanges: a.cfg.MaxExchanges,
		SegmentExchanges: segment.Exchanges, LastExchangeTokens: segment.LastTokens,
		Cycle: attempts + 1, Succeeded: succeeded, Limit: a.cfg.Limit,
	}, nil
}

// Succeed counts a compaction that was saved.
func (a *Auto) Succeed() { a.succeeded.Add(1) }
