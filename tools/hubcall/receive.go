package hubcall

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"

	"simplex/state"
	"simplex/tools"
	"simplex/wire"
)

// query is a settled subagent_receive.
type query struct {
	id     string // "" asks for the list of children
	cursor uint64
	limit  uint64
	answer *wire.AnswerRequest
	source state.Value // of the answer, as given
}

const (
	defaultLimit = 5
	highestLimit = 10
)

func (s *Set) receive(a *tools.Arguments) (tools.Plan, error) {
	var q query
	if a.Has("subagent_id") {
		q.id = requireID(a)
	}
	q.cursor = a.ReadUint("cursor", 0, 0, wire.MaxAnswerInteger)
	q.limit = a.ReadUint("limit", defaultLimit, 1, highestLimit)
	for _, name := range []string{"cursor", "limit", "answer"} {
		if a.Has(name) && q.id == "" {
			a.Failf(name, "needs subagent_id")
		}
		if name != "answer" && a.Has(name) && a.Has("answer") {
			a.Failf(name, "does not go together with answer")
		}
	}
	if v, ok := a.Value("answer"); ok {
		if err := q.readAnswer(v); err != nil {
			a.Failf("answer", "%w", err)
		}
	}
	return tools.Plan{
		Type: state.ReadOnly, Security: state.Trusted,
		Invoke: func(ctx context.Context) (state.Result, error) { return s.runReceive(ctx, q) },
	}, nil
}

// readAnswer reads source, part and offset, which are all required.
func (q *query) readAnswer(v state.Value) error {
	o, err := v.Object()
	if err != nil {
		return errors.New("must be an object")
	}
	if err := onlyFields(o, "source", "part", "offset"); err != nil {
		return err
	}
	q.answer = &wire.AnswerRequest{}
	for name, into := range map[string]*uint64{"part": &q.answer.Part, "offset": &q.answer.Offset} {
		v, _ := o.Get(name)
		n, ok := countOf(v)
		if !ok {
			return fmt.Errorf("must have %s, an integer of 0 or more", name)
		}
		*into = n
	}
	q.source, _ = o.Get("source")
	if q.source.Kind() != '{' {
		return errors.New("must have source, as answer_source gave it")
	}
	if q.answer.Source, err = wire.ParseAnswerSource(jsontext.Value(q.source.String())); err != nil {
		return fmt.Errorf("has a source that is not as answer_source gave it: %w", err)
	}
	return nil
}

// arguments are those on the wire.
func (q *query) arguments() state.Object {
	if q.id == "" {
		return state.EmptyObject()
	}
	members := []state.Member{{Name: "subagent_id", Value: state.StringValue(q.id)}}
	if q.answer != nil {
		answer := state.ObjectFrom([]state.Member{
			{Name: "source", Value: q.source},
			{Name: "part", Value: state.UintValue(q.answer.Part)},
			{Name: "offset", Value: state.UintValue(q.answer.Offset)},
		})
		return state.ObjectFrom(append(members, state.Member{Name: "answer", Value: answer.Value}))
	}
	return state.ObjectFrom(append(members,
		state.Member{Name: "cursor", Value: state.UintValue(q.cursor)},
		state.Member{Name: "limit", Value: state.UintValue(q.limit)}))
}

func (s *Set) runReceive(ctx context.Context, q query) (state.Result, error) {
	o, err := s.caller.call(ctx, subagentReceive(), q.arguments())
	if err != nil {
		return state.Result{}, err
	}
	out, err := q.render(o)
	if err != nil {
		return state.Result{}, err
	}
	return state.Result{Output: out}, nil
}

// render shows a result. A result of the wrong shape, and one that cannot be shown
// within the limits, is an error.
func (q *query) render(o state.Object) (state.Content, error) {
	var bad error
	reply := readObject(o, "", &bad)
	p := &page{}
	switch {
	case q.id == "":
		p.list(reply)
	case q.answer != nil:
		p.answer(reply, q)
	default:
		p.child(reply, q)
	}
	if bad != nil {
		return state.Content{}, subagentReceive().unusable(bad)
	}
	return p.content()
}
