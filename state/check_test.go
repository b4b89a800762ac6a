package state

import (
	"errors"
	"testing"
)

func TestStructureRules(t *testing.T) {
	t.Parallel()
	const step = "/turns/0/agent_loop_step/0"
	open := func(s *Step) *Step { c := *s; c.Returns = nil; return &c }
	settled := func(s *State) { s.Loop.Pending = []Result{*toolStep(1, "").Returns[0].Result} }
	last := func(s *State) *Step { c := *s.LastStep(); return &c }
	withReturns := func(edit func([]*Message) []*Message) func(*State) {
		return func(s *State) {
			one, two := toolStep(1, "a"), toolStep(2, "b")
			c := &Step{ModelResponse: &Message{Type: ModelResponse, Calls: append(one.ModelResponse.Calls, two.ModelResponse.Calls...)}}
			c.Returns = edit([]*Message{one.Returns[0], two.Returns[0]})
			s.ReplaceLastStep(c)
		}
	}
	cases := []struct {
		name string
		edit func(*State)
		path string // "" = fine
	}{
		{"answered", func(*State) {}, ""},
		{"no loop", func(s *State) { s.Loop = nil }, ""},
		{"no turns", func(s *State) { s.Turns = nil }, ""},
		{"text answer", func(s *State) { s.AppendStep(&Step{ModelResponse: NewTextMessage(ModelResponse, "", "x")}) }, ""},
		{"turn without steps", func(s *State) { s.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "", "x")}) }, ""},
		{"two results in order", withReturns(func(r []*Message) []*Message { return r }), ""},
		{"two results swapped", withReturns(func(r []*Message) []*Message { return []*Message{r[1], r[0]} }), step + "/invoke_returns/0/invoke_return/query"},
		{"one result missing", withReturns(func(r []*Message) []*Message { return r[:1] }), step},
		{"one result twice", withReturns(func(r []*Message) []*Message { return append(r, r[1]) }), step + "/invoke_returns/2"},
		{"result of another name", withReturns(func(r []*Message) []*Message {
			res := *r[1].Result
			res.Call.Name = "other"
			return []*Message{r[0], NewResultMessage(res)}
		}), step + "/invoke_returns/1/invoke_return/query"},
		{"result without record", withReturns(func(r []*Message) []*Message { return []*Message{{Type: InvokeReturn}, r[1]} }), step + "/invoke_returns/0/invoke_return"},
		{"result of another type", withReturns(func(r []*Message) []*Message { c := *r[0]; c.Type = UserInput; return []*Message{&c, r[1]} }), step + "/invoke_returns/0/type"},
		{"unanswered when ready", func(s *State) { s.ReplaceLastStep(open(s.LastStep())) }, step},
		{"unanswered in model", func(s *State) { s.ReplaceLastStep(open(s.LastStep())); s.Loop.Phase = PhaseModel }, step},
		{"unanswered in tools", func(s *State) { s.ReplaceLastStep(open(s.LastStep())); s.Loop.Phase = PhaseTools }, ""},
		{"unanswered in blocked", func(s *State) { s.ReplaceLastStep(open(s.LastStep())); s.Loop.Phase = PhaseBlocked }, ""},
		{"half answered in tools", func(s *State) {
			withReturns(func(r []*Message) []*Message { return r[:1] })(s)
			s.Loop.Phase = PhaseTools
		}, step},
		{"earlier step unanswered in tools", func(s *State) {
			s.ReplaceLastStep(open(s.LastStep()))
			s.AppendStep(toolStep(2, ""))
			s.Loop.Phase = PhaseTools
		}, step},
		{"earlier turn unanswered in tools", func(s *State) {
			s.ReplaceLastStep(open(s.LastStep()))
			s.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "", "x")})
			s.Loop.Phase = PhaseTools
		}, step},
		{"projection", func(s *State) { s.ReplaceLastStep(open(s.LastStep())); s.Loop.Phase = PhaseProjection; settled(s) }, ""},
		{"projection without results", func(s *State) { s.Loop.Phase = PhaseProjection }, "/loop/pending_results"},
		{"results outside projection", settled, "/loop/pending_results"},
		{"projection of too many", func(s *State) {
			s.ReplaceLastStep(open(s.LastStep()))
			s.Loop.Phase = PhaseProjection
			settled(s)
			settled := s.Loop.Pending[0]
			s.Loop.Pending = []Result{settled, settled}
		}, "/loop/pending_results"},
		{"projection of another id", func(s *State) {
			s.ReplaceLastStep(open(s.LastStep()))
			s.Loop.Phase = PhaseProjection
			settled(s)
			s.Loop.Pending[0].Call.ID = "other"
		}, "/loop/pending_results/0/query"},
		{"projection onto an answered step", func(s *State) { s.Loop.Phase = PhaseProjection; settled(s) }, "/loop/pending_results"},
		{"projection onto nothing", func(s *State) { s.Turns = nil; s.Loop.Phase = PhaseProjection; settled(s) }, "/loop/pending_results"},
		{"response as user input", func(s *State) { s.AppendTurn(&Turn{UserInput: NewTextMessage(ModelResponse, "", "x")}) }, "/turns/1/user_input/type"},
		{"user input as response", func(s *State) {
			c := last(s)
			c.ModelResponse = NewTextMessage(UserInput, "", "x")
			s.ReplaceLastStep(c)
		}, step + "/model_response/type"},
		{"no user input", func(s *State) { s.AppendTurn(&Turn{}) }, "/turns/1/user_input"},
		{"no response", func(s *State) { s.ReplaceLastStep(&Step{}) }, step + "/model_response"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := New("s", testTime)
			st.AppendStep(toolStep(1, "out"))
			c.edit(st)
			sameStructureError(t, Check(st), c.path)
		})
	}
}

func sameStructureError(t *testing.T, err error, path string) {
	t.Helper()
	var bad *StructureError
	switch {
	case path == "" && err == nil:
	case !errors.As(err, &bad) || bad.Path != path:
		t.Errorf("got %v, want an error at %q", err, path)
	}
}

func TestCheckMessages(t *testing.T) {
	t.Parallel()
	call := func(id, name string) Call { return Call{ID: id, Name: name} }
	response := func(calls ...Call) *Message { return &Message{Type: ModelResponse, Calls: calls} }
	for _, c := range []struct {
		m    *Message
		path string
	}{
		{response(), ""},
		{response(call("a", "n"), call("b", "n")), ""},
		{response(call("a", "n"), call("a", "m")), "/model_response/invokes/1/id"},
		{response(call("", "n")), "/model_response/invokes/0/id"},
		{response(call("a", "")), "/model_response/invokes/0/name"},
		{&Message{Type: UserInput}, "/model_response/type"},
		{&Message{Type: ModelResponse, Result: &Result{}}, "/model_response/invoke_return"},
		{nil, "/model_response"},
	} {
		sameStructureError(t, CheckResponse(c.m), c.path)
	}
	for _, c := range []struct {
		m    *Message
		path string
	}{
		{NewTextMessage(UserInput, "user", "x"), ""},
		{NewTextMessage(ModelResponse, "user", "x"), "/user_input/type"},
		{&Message{Type: UserInput, Calls: []Call{{}}}, "/user_input/invokes"},
		{&Message{Type: UserInput, Result: &Result{}}, "/user_input/invoke_return"},
		{nil, "/user_input"},
	} {
		sameStructureError(t, CheckInput(c.m), c.path)
	}
}
