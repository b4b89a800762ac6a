package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"simplex/hub/adapter"
	"simplex/state"
	"simplex/wire"
)

// talk is the conversation: one goroutine, one select.
type talk struct {
	cfg     Config
	op      *operator
	hub     *adapter.Adapter
	stopped chan error
	show    renderer

	lines     <-chan string // nil once standard input ended
	running   bool          // a request was sent and has not ended
	requestID string
	runID     string // "" until it was admitted
	cancelled bool   // the operator asked for a cancel
	leaving   bool
	asked     *question
	ended     bool // the worker stopped by itself
	endErr    error
	verdict   error
	unsettled bool // calls of a killed worker stand without results

	pages *paging // an answer that is being fetched
	held  func()  // the end of the prompt, which waits for it
}

// converse returns when the operator leaves, the one prompt is answered, or the worker
// stopped. The worker may still run.
func (t *talk) converse(ctx context.Context) error {
	t.ready(ctx)
	if t.ended || t.leaving {
		return t.verdict
	}
	if t.unsettled {
		t.refused()
	} else {
		t.begin(ctx)
	}
	for !t.leaving && !t.ended {
		t.step(ctx)
	}
	return t.verdict
}

// begin sends the one prompt, or says where the conversation stands and asks for the first.
func (t *talk) begin(ctx context.Context) {
	if t.cfg.Live {
		_ = t.hub.Send(adapter.Stream())
	}
	if t.cfg.Approve {
		t.show.note("tool calls are approved without asking (--approve)")
	}
	if t.cfg.Once {
		t.lines = readLines(ctx, t.cfg.Stdin)
		t.submit(t.cfg.Prompt)
		return
	}
	if t.banner(ctx); t.ended || t.leaving {
		return
	}
	t.lines = readLines(ctx, t.cfg.Stdin)
	t.show.prompt()
}

// ready waits for the worker's first word.
func (t *talk) ready(ctx context.Context) {
	if e := t.next(ctx); e != nil {
		var status struct {
			Loop struct {
				Phase state.LoopPhase `json:"phase"`
			} `json:"loop"`
		}
		_ = decode(e.Data, &status)
		t.unsettled = status.Loop.Phase == state.PhaseTools || status.Loop.Phase == state.PhaseBlocked
	}
}

// next waits for an event and shows it; nil when there is none to wait for any more.
func (t *talk) next(ctx context.Context) *wire.Received {
	select {
	case e := <-t.op.events:
		t.show.event(e)
		return e
	case err := <-t.stopped:
		t.end(err)
	case <-t.cfg.Interrupts:
		t.leave()
	case <-ctx.Done():
		t.leave()
	}
	return nil
}

// refused lets the worker say why it takes no input: it knows the calls that are to be
// settled first. A request to go on runs nothing, as it is rejected like every other.
func (t *talk) refused() {
	t.cfg.Once = true
	t.send(adapter.Input{Operation: wire.OpContinue})
}

func (t *talk) step(ctx context.Context) {
	questions := t.op.questions
	var gaveUp <-chan struct{}
	if t.asked != nil {
		questions, gaveUp = nil, t.asked.ctx.Done()
	}
	select {
	case e := <-t.op.events:
		t.event(e)
	case q := <-questions:
		t.ask(q)
	case <-gaveUp:
		t.show.note("no answer is needed any more")
		t.asked = nil
	case line, ok := <-t.wanted():
		t.line(line, ok)
	case <-t.cfg.Interrupts:
		t.interrupt()
	case err := <-t.stopped:
		t.end(err)
	case <-ctx.Done():
		t.leave()
	}
}

// leave ends the conversation. What was asked for and not answered is a failure.
func (t *talk) leave() {
	t.leaving = true
	if t.running || t.cfg.Once {
		t.verdict = ErrNotCompleted
	}
}

// wanted is the input that may be taken now. What stands ready in a file or pipe waits
// for its question. What a person typed before a question was there is no answer to it:
// a terminal is read all the time.
func (t *talk) wanted() <-chan string {
	if !t.cfg.Terminal && t.running && t.asked == nil {
		return nil
	}
	return t.lines
}

func (t *talk) end(err error) {
	t.ended, t.endErr = true, err
	if err == nil && t.running {
		t.endErr = errors.New("the worker stopped")
	}
}

// wait gives the worker's own outcome once it stopped.
func (t *talk) wait() error {
	for !t.ended {
		select {
		case e := <-t.op.events:
			t.show.event(e)
		case err := <-t.stopped:
			t.ended, t.endErr = true, err
		}
	}
	return t.endErr
}

// submit sends a prompt as one message.
func (t *talk) submit(text string) {
	in := adapter.Input{
		Operation: wire.OpMessage, Mode: wire.ModeAsk,
		Content: []state.Content{state.TextContent(strings.ToValidUTF8(text, "\uFFFD"))},
	}
	if t.cfg.Approve {
		in.Mode = wire.ModeApprove
	}
	t.send(in)
}

// send asks for a run.
func (t *talk) send(in adapter.Input) {
	t.requestID, t.runID = uuid.NewString(), ""
	t.running, t.cancelled = true, false
	in.RequestID = t.requestID
	frame, err := in.Encode()
	if err == nil && len(frame) > wire.MaxInbound {
		t.finish(fmt.Errorf("the prompt is too large: %d bytes as a message, at most %d", len(frame), wire.MaxInbound))
		return
	}
	if err == nil {
		err = t.hub.Send(frame)
	}
	if err != nil {
		t.finish(fmt.Errorf("the prompt could not be sent: %w", err))
	}
}

// event follows the run that belongs to the prompt and shows everything.
func (t *talk) event(e *wire.Received) {
	t.show.event(e)
	switch e.Name {
	case wire.EventModelResponse:
		t.fetch(e.Data)
	case wire.EventAnswer, wire.EventAnswerError:
		t.page(e)
	}
	if e.RequestID != t.requestID || !t.running {
		return
	}
	switch e.Name {
	case wire.EventInputAdmitted:
		t.runID = e.RunID
		if t.cancelled {
			_ = t.hub.Send(adapter.Cancel(t.runID))
		}
	case wire.EventInputRejected:
		if t.unsettled {
			t.show.note("here that is: " + t.cfg.Settle)
		}
		t.finish(ErrNotCompleted)
	case wire.EventRunFinished:
		var end struct {
			Status wire.RunStatus `json:"status"`
		}
		if decode(e.Data, &end) != nil || end.Status != wire.RunCompleted {
			t.finish(ErrNotCompleted)
			return
		}
		t.finish(nil)
	}
}

// finish ends the prompt: with it everything when it was the only one.
func (t *talk) finish(err error) {
	if t.pages != nil {
		t.held = func() { t.held = nil; t.finish(err) }
		return
	}
	t.running = false
	if t.cfg.Once {
		t.leaving = true
		if err != nil {
			t.verdict = err
		}
		return
	}
	if err != nil && !errors.Is(err, ErrNotCompleted) {
		t.show.note(err.Error())
	}
	if err != nil && !t.cfg.Terminal { // a program asked, and reads the exit code
		t.verdict = ErrNotCompleted
	}
	t.show.prompt()
}

func (t *talk) ask(q question) {
	t.asked = &q
	t.show.question(q.req)
	if t.lines == nil {
		t.answer(adapter.Decision{Reason: "there is no operator to ask"})
	}
}

func (t *talk) answer(d adapter.Decision) {
	t.asked.reply <- d
	t.show.decision(d.Approved)
	t.asked = nil
}
