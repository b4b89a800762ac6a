package post

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"simplex/llm"
	"simplex/llm/sse"
)

// attempt is one request and its answer.
type attempt struct {
	c      *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *watch
	stage  atomic.Pointer[llm.Stage]
}

func (c *Client) try(ctx context.Context, body Body, read func(*Stream) error) error {
	a := &attempt{c: c}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	a.watch = &watch{clock: c.clock, cancel: a.cancel, idle: c.retry.IdleTimeout}
	from := &sender{body: body}
	defer from.take()
	resp, err := a.send(from)
	if err != nil {
		a.end()
		return err
	}
	if resp.StatusCode != http.StatusOK {
		defer a.end()
		defer resp.Body.Close()
		return a.rejected(resp)
	}
	s := &Stream{
		dec: sse.NewDecoder(touching{resp.Body, a.watch}), watch: a.watch,
		secrets: c.secrets, ctx: a.ctx,
	}
	err = read(s)
	if err == nil && !s.ended && a.ctx.Err() == nil {
		a.drain(resp.Body)
		return nil
	}
	a.end()
	resp.Body.Close()
	return err
}

func (a *attempt) end() {
	a.watch.stop()
	a.cancel(nil)
}

func (a *attempt) at(s llm.Stage) { a.stage.Store(&s) }

// send gives the answer's head. Connecting has the dialer's limits, writing its own,
// and from then on only silence ends the try.
func (a *attempt) send(from *sender) (*http.Response, error) {
	a.at(llm.StageConnect)
	trace := &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			a.at(llm.StageWrite)
			a.watch.arm(writeLimit, llm.ErrWriteTimeout, true)
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil && *a.stage.Load() == llm.StageWrite {
				a.at(llm.StageRead)
				a.watch.waitForData()
			}
		},
	}
	t := a.c.target
	content, _ := from.open()
	req := (&http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.host, Header: t.header.Clone(),
		Body: content, GetBody: from.open, ContentLength: from.body.Len(),
	}).WithContext(httptrace.WithClientTrace(a.ctx, trace))
	// RoundTrip, not Client.Do: no redirects, no cookies, no URL in its errors.
	resp, err := a.c.pool.RoundTrip(req)
	if err != nil {
		return nil, a.classify(err)
	}
	a.at(llm.StageRead) // an early answer may overtake the end of the write
	a.watch.waitForData()
	return resp, nil
}

// drain reads what follows a complete answer, so that the connection can be used
// again, without keeping the caller. It is bounded in time and bytes.
func (a *attempt) drain(body io.ReadCloser) {
	a.watch.arm(drainLimit, context.Canceled, true)
	stop := context.AfterFunc(a.c.closing, func() { a.cancel(nil) })
	a.c.drains.Go(func() {
		defer a.end()
		defer stop()
		defer body.Close()
		_, _ = io.CopyN(io.Discard, body, drainBytes)
	})
}
