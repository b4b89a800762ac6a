package chat

import (
	"bufio"
	"context"
	"io"
	"strings"

	"simplex/hub/adapter"
)

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
		if strings.TrimSpace(line) != "" {
			t.show.note("not sent, as a run is under way (Ctrl-C cancels it): " + line)
		}
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
	if t.cfg.Terminal {
		t.show.fresh() // the terminal shows ^C where the cursor was
	}
	if !t.running || t.cancelled {
		t.leave()
		return
	}
	t.cancelled = true
	if t.cfg.Once {
		t.show.note("cancelling the run")
	} else {
		t.show.note("cancelling the run; Ctrl-C again leaves")
	}
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
