package hubcall

import (
	"context"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

func (s *Set) fork(*tools.Arguments) (tools.Plan, error) {
	return tools.Plan{Type: state.SerialWrite, Security: state.Trusted, Invoke: s.runFork}, nil
}

func (s *Set) runFork(ctx context.Context) (state.Result, error) {
	o, err := s.caller.call(ctx, subagentFork(), state.EmptyObject())
	if err != nil {
		return state.Result{}, err
	}
	var bad error
	reply := readObject(o, "", &bad)
	id := reply.subagentID()
	lifecycle := reply.word("lifecycle", "preparing")
	replayed := reply.flag("replayed")
	if bad != nil {
		return state.Result{}, subagentFork().unusable(bad)
	}
	var text result.Text
	r := text.Record()
	r.String("subagent_id", id)
	r.String("lifecycle", lifecycle)
	if replayed {
		r.Bool("replayed", true)
	}
	r.String("hint", "it is being made; look with subagent_receive until it is ready and connected, before you send anything")
	return state.Result{Output: text.Content()}, nil
}

// subagentID is a member that must follow the grammar of ids.
func (o object) subagentID() string {
	s := o.text("subagent_id", 0)
	if !validID(s) {
		o.fail("subagent_id", "is no id")
		return ""
	}
	return s
}
