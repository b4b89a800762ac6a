package chat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

	pages *paging // an answer that is being fetched
	held  func()  // the end of the prompt, which waits for it
}

// converse returns when the operator leaves, the one prompt is answered, or the worker
// stopped. The worker may still run.
func (t *talk) converse(ctx context.Context) error {
	if err := t.ready(ctx); err != nil || t.ended || t.leaving {
		return err
	}
	t.lines = readLines(ctx, t.cfg.Stdin)
	if t.cfg.Live {
		_ = t.hub.Send(adapter.Stream())
	}
	if t.cfg.Approve {
		t.show.note("tool calls are approved without asking (--approve)")
	}
	if t.cfg.Once {
		t.submit(t.cfg.Prompt)
	} else {
		t.show.note(fmt.Sprintf("session %s, %s; Ctrl-C cancels a run, a second one leaves, and so does Ctrl-D", t.cfg.SessionID, t.cfg.Worker.Driver))
		t.show.prompt()
	}
	for !t.leaving && !t.ended {
		t.step(ctx)
	}
	return t.verdict
}

// ready waits for the worker's first word.
func (t *talk) ready(ctx context.Context) error {
	select {
	case e := <-t.op.events:
		t.show.event(e)
	case err := <-t.stopped:
		t.end(err)
	case <-t.cfg.Interrupts:
		t.leaving = true
	case <-ctx.Done():
		t.leaving = true
	}
	return nil
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
		t.leaving = true
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
	t.requestID, t.runID = uuid.NewString(), ""
	t.running, t.cancelled = true, false
	in := adapter.Input{
		Operation: wire.OpMessage, RequestID: t.requestID,
		Content: []state.Content{state.TextContent(strings.ToValidUTF8(text, "\uFFFD"))}, Mode: wire.ModeAsk,
	}
	if t.cfg.Approve {
		in.Mode = wire.ModeApprove
	}
	frame, err := in.Encode()
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
	if err != nil && !errors.Is(err, ErrNotCompleted) && !t.cfg.Once {
		t.show.note(err.Error())
	}
	if t.cfg.Once {
		t.leaving, t.verdict = true, err
		return
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

// line takes what the operator typed: the answer to a question, or the next prompt.
func (t *talk) line(line string, ok bool) {
	if !ok {
		t.lines = nil
	}
	switch {
	case t.asked != nil && !ok:
		t.answer(adapter.Decision{Reason: "there is no operator to ask"})
		t.cfg.Once = true // the run is seen to its end, and nothing can follow it
	case t.asked != nil:
		t.answer(adapter.Decision{Approved: isYes(line), Reason: "operator decision"})
	case !ok && !t.cfg.Once && !t.running:
		t.leaving = true
	case !ok:
		// A run that is under way is seen to its end.
		t.cfg.Once = t.cfg.Once || t.running
	case t.running:
		t.show.note("a run is under way: Ctrl-C cancels it")
	case strings.TrimSpace(line) == "":
		t.show.prompt()
	default:
		t.submit(line)
	}
}

func isYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// interrupt cancels the run; without one, or a second time, it leaves.
func (t *talk) interrupt() {
	if !t.running || t.cancelled {
		t.leaving = true
		if t.running {
			t.verdict = ErrNotCompleted
		}
		return
	}
	t.cancelled = true
	t.show.note("cancelling the run; Ctrl-C again leaves")
	if t.runID != "" {
		_ = t.hub.Send(adapter.Cancel(t.runID))
	}
}

// readLines reads standard input for as long as someone listens. The channel is closed
// at its end. A line may have any length.
func readLines(ctx context.Context, r io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if line = strings.TrimRight(line, "\r\n"); err != nil && line == "" {
				return
			}
			select {
			case out <- line:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}
