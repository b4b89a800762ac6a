package state

import (
	"fmt"
	"strconv"
)

// Check tests the structure rules of worker-data.md §3.3 and entry rule 6 of §3.2: message
// types fit their places; every call of a step is answered by exactly one result, in
// order, by id and name; only the last step of the last turn may be unanswered, and only
// in the phases tools, blocked and projection; pending results exist exactly in phase
// projection and answer that step. A state without loop counts as ready. The error is a
// *StructureError.
func Check(st *State) error {
	phase := PhaseReady
	var pending []Result
	if st.Loop != nil {
		phase, pending = st.Loop.Phase, st.Loop.Pending
	}
	if (len(pending) > 0) != (phase == PhaseProjection) {
		return &StructureError{"/loop/pending_results", fmt.Sprintf("%d results in phase %s", len(pending), phase)}
	}
	for i, t := range st.Turns {
		if err := checkTurn(t, i, i+1 == len(st.Turns) && mayBeOpen(phase)); err != nil {
			return err
		}
	}
	if phase == PhaseProjection {
		return checkPending(st, pending)
	}
	return nil
}

func mayBeOpen(phase LoopPhase) bool {
	return phase == PhaseTools || phase == PhaseBlocked || phase == PhaseProjection
}

func checkTurn(t *Turn, index int, open bool) error {
	path := "/turns/" + strconv.Itoa(index)
	if t == nil || t.UserInput == nil {
		return &StructureError{path + "/user_input", "is missing"}
	}
	if t.UserInput.Type != UserInput {
		return &StructureError{path + "/user_input/type", fmt.Sprintf("is %s in the place of a user input", t.UserInput.Type)}
	}
	for i, s := range t.Steps {
		place := path + "/agent_loop_step/" + strconv.Itoa(i)
		if err := checkStep(s, place, open && i+1 == len(t.Steps)); err != nil {
			return err
		}
	}
	return nil
}

func checkStep(s *Step, path string, open bool) error {
	if s == nil || s.ModelResponse == nil {
		return &StructureError{path + "/model_response", "is missing"}
	}
	if s.ModelResponse.Type != ModelResponse {
		return &StructureError{path + "/model_response/type", fmt.Sprintf("is %s in the place of a model response", s.ModelResponse.Type)}
	}
	calls := s.ModelResponse.Calls
	if open && len(s.Returns) == 0 {
		return nil
	}
	for i, m := range s.Returns {
		place := path + "/invoke_returns/" + strconv.Itoa(i)
		switch {
		case m == nil || m.Result == nil:
			return &StructureError{place + "/invoke_return", "is missing"}
		case m.Type != InvokeReturn:
			return &StructureError{place + "/type", fmt.Sprintf("is %s in the place of a tool result", m.Type)}
		case i >= len(calls):
			return &StructureError{place, "answers no call"}
		}
		if problem := mismatch(&calls[i], &m.Result.Call); problem != "" {
			return &StructureError{place + "/invoke_return/query", problem}
		}
	}
	if len(s.Returns) < len(calls) {
		return &StructureError{path, fmt.Sprintf("%d calls but %d results", len(calls), len(s.Returns))}
	}
	return nil
}

// mismatch says why a settled call does not answer a proposed one; "" if it does.
func mismatch(call, settled *Call) string {
	if call.ID != settled.ID {
		return fmt.Sprintf("has id %q where the call has %q", settled.ID, call.ID)
	}
	if call.Name != settled.Name {
		return fmt.Sprintf("has name %q where the call has %q", settled.Name, call.Name)
	}
	return ""
}

func checkPending(st *State, pending []Result) error {
	const path = "/loop/pending_results"
	step := st.LastStep()
	if step == nil {
		return &StructureError{path, "there is no step that they answer"}
	}
	if len(step.Returns) > 0 {
		return &StructureError{path, "the last step is answered already"}
	}
	return CheckResults(step.ModelResponse.Calls, pending)
}

// CheckResults tests that results answer calls one to one, in order, by id and name.
func CheckResults(calls []Call, results []Result) error {
	const path = "/loop/pending_results"
	if len(calls) != len(results) {
		return &StructureError{path, fmt.Sprintf("%d results for %d calls", len(results), len(calls))}
	}
	for i := range calls {
		if problem := mismatch(&calls[i], &results[i].Call); problem != "" {
			return &StructureError{path + "/" + strconv.Itoa(i) + "/query", problem}
		}
	}
	return nil
}

// CheckInput tests a message that is to open a turn (§3.2, entry rule 2).
func CheckInput(m *Message) error {
	switch {
	case m == nil:
		return &StructureError{"/user_input", "is missing"}
	case m.Type != UserInput:
		return &StructureError{"/user_input/type", fmt.Sprintf("is %s, not user_input", m.Type)}
	case len(m.Calls) > 0:
		return &StructureError{"/user_input/invokes", "must be absent"}
	case m.Result != nil:
		return &StructureError{"/user_input/invoke_return", "must be absent"}
	}
	return nil
}

// CheckResponse tests a message that is to open a step (§3.2, exchange rule 4): its type,
// no result record, every call with a name and an id that is unique in the response.
func CheckResponse(m *Message) error {
	switch {
	case m == nil:
		return &StructureError{"/model_response", "is missing"}
	case m.Type != ModelResponse:
		return &StructureError{"/model_response/type", fmt.Sprintf("is %s, not model_response", m.Type)}
	case m.Result != nil:
		return &StructureError{"/model_response/invoke_return", "must be absent"}
	}
	seen := make(map[string]bool, len(m.Calls))
	for i, c := range m.Calls {
		path := "/model_response/invokes/" + strconv.Itoa(i)
		switch {
		case c.ID == "":
			return &StructureError{path + "/id", "is empty"}
		case seen[c.ID]:
			return &StructureError{path + "/id", fmt.Sprintf("%q is not unique in the response", c.ID)}
		case c.Name == "":
			return &StructureError{path + "/name", "is empty"}
		}
		seen[c.ID] = true
	}
	return nil
}
