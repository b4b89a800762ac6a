package external

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"time"

	"simplex/internal/program"
)

// life is one life of the hook's program: the process and the lines with it.
type life struct {
	child   *program.Child
	answers chan answer   // of the reader; closed at its end
	over    chan struct{} // closed with answers
	broken  error         // why the reader ended; after over
	quit    chan struct{} // closed: nobody takes answers any more
}

// launch starts the program and waits until it says that it is ready.
func launch(ctx context.Context, cfg Config) (*life, error) {
	c, err := startChild(cfg)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	l := &life{child: c, answers: make(chan answer), over: make(chan struct{}), quit: make(chan struct{})}
	go l.read(cfg.MaxAnswerBytes)
	err = l.send(ctx, hello{Type: "hello", Protocol: Protocol, Hook: cfg.Name, Events: cfg.Events, Config: cfg.Settings})
	var first answer
	if err == nil {
		first, err = l.receive(ctx)
	}
	if err == nil && (first.Type != "ready" || first.Protocol != Protocol) {
		err = fmt.Errorf("%w: the first line must be {\"type\":\"ready\",\"protocol\":%d}", ErrProtocol, Protocol)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start: %w", err), l.end(cfg.Grace, ctx.Done()))
	}
	return l, nil
}

// read hands on lines until the program ends or breaks the protocol.
func (l *life) read(limit int) {
	defer close(l.over)
	in := bufio.NewReader(l.child.Stdout)
	for {
		line, err := readLine(in, limit)
		if err != nil {
			if errors.Is(err, errLine) {
				err = fmt.Errorf("%w: more than %d bytes in a line", ErrProtocol, limit)
			}
			l.broken = err
			return
		}
		a, err := decodeAnswer(line)
		if err != nil {
			l.broken = err
			return
		}
		select {
		case l.answers <- a:
		case <-l.quit:
			l.broken = context.Canceled
			return
		}
	}
}

// send writes one line before the deadline of ctx.
func (l *life) send(ctx context.Context, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode the event: %w", err)
	}
	deadline, _ := ctx.Deadline()
	if err := l.child.Stdin.SetWriteDeadline(deadline); err != nil {
		return err
	}
	if _, err := l.child.Stdin.Write(append(line, '\n')); err != nil {
		return l.lost(fmt.Errorf("write: %w", err))
	}
	return nil
}

// receive waits for one line until the deadline of ctx.
func (l *life) receive(ctx context.Context) (answer, error) {
	select {
	case a := <-l.answers:
		return a, nil
	case <-l.over:
		return answer{}, l.lost(l.broken)
	case <-ctx.Done():
		return answer{}, fmt.Errorf("no answer in time: %w", ctx.Err())
	}
}

// lost prefers the program's own end over what it looks like from here.
func (l *life) lost(err error) error {
	if errors.Is(err, ErrProtocol) || !l.child.Ending(nil) {
		return err
	}
	status := l.child.Status()
	if status == nil {
		return errors.New("the program ended with exit status 0")
	}
	return fmt.Errorf("the program ended: %w", status)
}

// end makes an end of process and reader.
func (l *life) end(grace time.Duration, hurry <-chan struct{}) error {
	close(l.quit)
	err := l.child.End(grace, hurry)
	<-l.over
	return err
}
