package process

import (
	"context"

	proc "simplex/process"
	"simplex/process/capture"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// read is a settled read_process call.
type read struct {
	id      string
	stream  string
	full    bool
	release bool
}

func (s *Set) readProcess(a *tools.Arguments) (tools.Plan, error) {
	q := read{
		id:      a.RequireString("session_id"),
		stream:  a.SettleEnum("stream", "both", "stdout", "stderr", "both"),
		full:    a.SettleBool("full", false),
		release: a.SettleBool("release", false),
	}
	return tools.Plan{
		Type: state.ReadOnly, Security: state.Trusted,
		Invoke: func(context.Context) (state.Result, error) { return s.read(q) },
	}, nil
}

func (s *Set) read(q read) (state.Result, error) {
	session, err := s.store.Get(q.id)
	if err != nil {
		return state.Result{}, sessionFailure(q.id, "read", err)
	}
	stream := capture.Stream(q.stream)
	if q.stream == "both" {
		stream = ""
	}
	snap := look(session)
	outputs := session.Read(stream, q.full)
	var text result.Text
	r := text.Record()
	sessionFields(r, snap)
	r.String("stream", q.stream)
	r.Bool("full", q.full)
	for _, o := range outputs {
		r.Uint(string(o.Stream)+"_bytes_read", o.Cursor)
	}
	if q.release {
		r.Bool("released", snap.State != proc.Running && s.release(session))
	}
	blocks(r, "", outputs)
	return state.Result{Output: text.Content()}, nil
}
