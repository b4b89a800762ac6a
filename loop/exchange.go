package loop

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"simplex/hooks"
	"simplex/state"
)

// exchange makes one model response and its tool results part of the conversation.
func (r *run) exchange() *verdict {
	if r.stopped() {
		return cancelled()
	}
	if v := r.commitCandidate(); v != nil {
		return v
	}
	resp, v := r.ask()
	if v != nil {
		return v
	}
	resp, err := r.acceptResponse(resp)
	if err != nil {
		return r.failure(fmt.Errorf("model response: %w", err), StageOther)
	}
	if err := r.integrate(resp); err != nil {
		return r.failure(err, StageOther)
	}
	// An error here must not leave the calls unanswered: it is held until they are.
	err = r.tell(&hooks.Event{Name: hooks.ModelCommitted, Response: resp, Calls: resp.Calls})
	var results []state.Result
	if len(resp.Calls) > 0 {
		results, err = r.answerCalls(resp.Calls, err)
	}
	if err != nil {
		return r.failure(err, StageOther)
	}
	if err := r.finishStep(resp.Calls, results); err != nil {
		return r.failure(err, StageOther)
	}
	return r.next(len(resp.Calls) == 0)
}

// commitCandidate lets hooks change what the exchange is made with.
func (r *run) commitCandidate() *verdict {
	c := &hooks.Candidate{
		SystemPrompt: r.st.SystemPrompt,
		Tools:        slices.Clone(r.st.Tools),
		Extras:       r.st.Extras,
	}
	c.SystemPrompt.Sections = slices.Clone(c.SystemPrompt.Sections)
	e := &hooks.Event{Name: hooks.BeforeModel, Candidate: c}
	if err := r.tell(e); err != nil {
		return r.failure(err, StageOther)
	}
	if c = e.Candidate; c == nil {
		return r.failure(fmt.Errorf("after %s: the candidate is missing", hooks.BeforeModel), StageOther)
	}
	if err := r.guard("rendering", func() error { return r.prove(&c.SystemPrompt) }); err != nil {
		return r.failure(err, StageOther)
	}
	if r.stopped() {
		return cancelled()
	}
	c.SystemPrompt.Sections = kept(r.st.SystemPrompt.Sections, c.SystemPrompt.Sections)
	r.st.SystemPrompt, r.st.Tools, r.st.Extras = c.SystemPrompt, kept(r.st.Tools, c.Tools), c.Extras
	return nil
}

// ask makes the provider call.
func (r *run) ask() (*state.Message, *verdict) {
	r.phase(state.PhaseModel)
	var resp *state.Message
	err := r.guard("model", func() (err error) {
		resp, err = r.cfg.Model.Exchange(r.ctx, r.st.Clone())
		return err
	})
	if err != nil {
		return nil, r.failure(err, StageModelRequest)
	}
	return resp, nil
}

// integrate appends the response as a step of the last turn.
func (r *run) integrate(resp *state.Message) error {
	if r.st.Loop.CommittedSequence == math.MaxUint64 {
		return errors.New("commit sequence is exhausted")
	}
	r.progress(func(l *state.LoopProgress) {
		l.CommittedSequence++
		l.CompletedExchanges++
		l.Phase = state.PhaseReady
	})
	r.st.AppendStep(&state.Step{
		ModelResponse:  resp,
		Retain:         state.RetainNormal,
		CommitSequence: r.st.Loop.CommittedSequence,
		Extras:         r.cfg.StepExtras,
	})
	r.tokens = totalTokens(resp.Cost)
	return nil
}

func totalTokens(c *state.TokenCost) *uint64 {
	if c == nil || c.Prompt > math.MaxUint64-c.Generated {
		return nil
	}
	n := c.Prompt + c.Generated
	return &n
}

// finishStep is the edit and the observation of a settled step.
func (r *run) finishStep(calls []state.Call, results []state.Result) error {
	if err := r.edit(&hooks.Event{Name: hooks.EditOnStepFinished, Calls: calls, Results: results}); err != nil {
		return err
	}
	return r.tell(&hooks.Event{Name: hooks.StepFinished, Calls: calls, Results: results})
}

// next decides whether another exchange follows (§3.2, 8 and 9).
func (r *run) next(answered bool) *verdict {
	exhausted := r.st.Loop.CompletedExchanges >= r.cfg.MaxExchanges
	switch {
	case answered:
		return &verdict{status: state.StatusCompleted}
	case r.stopped():
		return cancelled()
	case r.cfg.Threshold > 0 && r.tokens != nil && *r.tokens > r.cfg.Threshold:
		return &verdict{status: state.StatusAutoCompactRequired, reason: ReasonTokenThreshold}
	case r.cfg.Threshold > 0 && exhausted:
		return &verdict{status: state.StatusAutoCompactRequired, reason: ReasonExchangeLimit}
	case exhausted:
		return &verdict{status: state.StatusExchangeLimit}
	}
	return nil
}
