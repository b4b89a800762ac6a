package external

import (
	"encoding/json/v2"
	"errors"
	"fmt"

	"simplex/hooks"
	"simplex/state"
)

// Protocol is the version of the lines in both directions.
const Protocol = 1

// hello is the first line to the program.
type hello struct {
	Type     string       `json:"type"` // hello
	Protocol int          `json:"protocol"`
	Hook     string       `json:"hook"`
	Events   []hooks.Name `json:"events"`
	Config   state.Object `json:"config"`
}

// event is one line for one event.
type event struct {
	Type     string         `json:"type"` // event
	ID       uint64         `json:"id"`
	Event    hooks.Name     `json:"event"`
	Answer   bool           `json:"answer"` // whether one is waited for
	State    *state.State   `json:"state,omitzero"`
	Input    *state.Message `json:"input,omitzero"`
	Response *state.Message `json:"response,omitzero"`
	Calls    []state.Call   `json:"calls,omitempty"`
	Results  []state.Result `json:"results,omitempty"`
}

// newEvent says what the program gets to see: the whole state where it may change it
// and at the beginning of a run, else only what is new.
func newEvent(id uint64, e *hooks.Event) event {
	out := event{Type: "event", ID: id, Event: e.Name, Input: e.Input, Response: e.Response, Calls: e.Calls, Results: e.Results}
	switch {
	case edits(e):
		out.Answer, out.State = true, e.Edit
	case e.Name == hooks.RunStarted:
		out.State = e.State
	}
	return out
}

func edits(e *hooks.Event) bool {
	return (e.Name == hooks.EditOnStepFinished || e.Name == hooks.EditOnRunFinished) && e.Edit != nil
}

// answer is one line of the program.
type answer struct {
	Type     string       `json:"type"` // ready, answer
	Protocol int          `json:"protocol"`
	ID       uint64       `json:"id"`
	Edit     state.Object `json:"edit"`  // unset: nothing is changed
	Error    string       `json:"error"` // what the program itself reports as its failure
}

// ErrProtocol: the program wrote what it may not.
var ErrProtocol = errors.New("the program broke the protocol")

func decodeAnswer(line []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(line, &a, json.RejectUnknownMembers(true)); err != nil {
		return answer{}, fmt.Errorf("%w: not one of its lines: %w", ErrProtocol, err)
	}
	return a, nil
}
