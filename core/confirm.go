package core

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"simplex/intercom"
	"simplex/state"
	"simplex/wire"
)

// confirmer asks whether a call may run (wire.md §9). It holds what does not change
// between runs.
type confirmer struct {
	endpoint *intercom.ExchangeConfig // nil denies in mode ask
	worker   string
	session  string
	newID    func() string
	logger   *slog.Logger
}

// confirmScope is one run's admission of confirmations: its mode is frozen, and once it
// is closed nothing passes any more. An approval that was decided before stays.
type confirmScope struct {
	*confirmer
	mode  wire.Mode
	runID string
	ctx   context.Context
	stop  context.CancelFunc

	mu     sync.Mutex
	closed bool
}

func (c *confirmer) open(mode wire.Mode, runID string) *confirmScope {
	ctx, stop := context.WithCancel(context.Background())
	return &confirmScope{confirmer: c, mode: mode, runID: runID, ctx: ctx, stop: stop}
}

// close denies what is undecided and everything after. It may be called more than once.
func (s *confirmScope) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
}

// win tells whether an approval came before the scope was closed.
func (s *confirmScope) win() (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, "the run was cancelled"
	}
	return true, ""
}

// confirm decides about one settled call. Every failure is a denial.
func (s *confirmScope) confirm(_ context.Context, call state.Call) (bool, string) {
	if ok, reason := s.win(); !ok {
		return false, reason
	}
	switch s.mode {
	case wire.ModeApprove:
		return s.win()
	case wire.ModeDeny:
		return false, "confirmations are set to deny"
	}
	if s.endpoint == nil {
		return false, "no confirmation endpoint is configured"
	}
	approved, reason := s.ask(call)
	if !approved {
		return false, reason
	}
	return s.win()
}

func (s *confirmScope) ask(call state.Call) (bool, string) {
	ids := wire.ConfirmIDs{WorkerID: s.worker, SessionID: s.session, RunID: s.runID, ConfirmationID: s.newID()}
	raw, err := wire.EncodeConfirmRequest(ids, call)
	if err != nil {
		s.logger.Warn("a call cannot be confirmed", "error", err)
		return false, "the call is too large to be confirmed"
	}
	reply, err := intercom.Exchange(s.ctx, *s.endpoint, raw)
	if err != nil {
		return false, s.explain(err)
	}
	answer, err := wire.DecodeConfirmResponse(reply, ids)
	if err != nil {
		s.logger.Warn("confirmation refused", "confirmation_id", ids.ConfirmationID, "error", err)
		return false, "the confirmation service gave no valid answer"
	}
	return answer.Decision == wire.Approved, answer.Reason
}

func (s *confirmScope) explain(err error) string {
	switch {
	case errors.Is(err, intercom.ErrStopped):
		return "the run was cancelled"
	case errors.Is(err, intercom.ErrTimedOut):
		return "no decision came in time"
	}
	s.logger.Warn("confirmation failed", "error", err)
	return "the confirmation service could not be asked"
}
