package external

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"time"
)

// program is one life of the hook's program: the process and the lines with it.
type program struct {
	child   *child
	answers chan answer   // of the reader; closed at its end
	over    chan struct{} // closed with answers
	broken  error         // why the reader ended; after over
	quit    chan struct{} // closed: nobody takes answers any more
}

// launch starts the program and waits until it says that it is ready.
func launch(ctx context.Context, cfg Config) (*program, error) {
	c, err := startChild(cfg)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	p := &program{child: c, answers: make(chan answer), over: make(chan struct{}), quit: make(chan struct{})}
	go p.read(cfg.MaxAnswerBytes)
	err = p.send(ctx, hello{Type: "hello", Protocol: Protocol, Hook: cfg.Name, Events: cfg.Events, Config: cfg.Settings})
	var first answer
	if err == nil {
		first, err = p.receive(ctx)
	}
	if err == nil && (first.Type != "ready" || first.Protocol != Protocol) {
		err = fmt.Errorf("%w: the first line must be {\"type\":\"ready\",\"protocol\":%d}", ErrProtocol, Protocol)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start: %w", err), p.end(cfg.Grace, ctx.Done()))
	}
	return p, nil
}

// read hands on lines until the program ends or breaks the protocol.
func (p *program) read(limit int) {
	defer close(p.over)
	in := bufio.NewReader(p.child.stdout)
	for {
		line, err := readLine(in, limit)
		if err != nil {
			if errors.Is(err, errLine) {
				err = fmt.Errorf("%w: more than %d bytes in a line", ErrProtocol, limit)
			}
			p.broken = err
			return
		}
		a, err := decodeAnswer(line)
		if err != nil {
			p.broken = err
			return
		}
		select {
		case p.answers <- a:
		case <-p.quit:
			p.broken = context.Canceled
			return
		}
	}
}

// send writes one line before the deadline of ctx.
func (p *program) send(ctx context.Context, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode the event: %w", err)
	}
	deadline, _ := ctx.Deadline()
	if err := p.child.stdin.SetWriteDeadline(deadline); err != nil {
		return err
	}
	if _, err := p.child.stdin.Write(append(line, '\n')); err != nil {
		return p.lost(fmt.Errorf("write: %w", err))
	}
	return nil
}

// receive waits for one line until the deadline of ctx.
func (p *program) receive(ctx context.Context) (answer, error) {
	select {
	case a := <-p.answers:
		return a, nil
	case <-p.over:
		return answer{}, p.lost(p.broken)
	case <-ctx.Done():
		return answer{}, fmt.Errorf("no answer in time: %w", ctx.Err())
	}
}

// lost prefers the program's own end over what it looks like from here.
func (p *program) lost(err error) error {
	if errors.Is(err, ErrProtocol) || !p.child.gone(drainTime, nil) {
		return err
	}
	if p.child.status == nil {
		return errors.New("the program ended with exit status 0")
	}
	return fmt.Errorf("the program ended: %w", p.child.status)
}

// end makes an end of process and reader.
func (p *program) end(grace time.Duration, hurry <-chan struct{}) error {
	close(p.quit)
	err := p.child.end(grace, hurry)
	<-p.over
	return err
}
