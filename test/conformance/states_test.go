package conformance

import (
	"fmt"
	"strings"
	"time"

	"simplex/state"
)

// fresh is a session s1 of one turn for each user text, answered by the same answer.
func fresh(answer []state.Content, users ...string) *state.State {
	st := state.New("s1", time.Unix(1700000000, 0))
	st.SystemPrompt.Sections = []state.Section{{Name: "role", Title: "Role", Stability: state.Immutable, Text: "You test."}}
	for _, user := range users {
		st.Loop.CommittedSequence++
		st.Turns = append(st.Turns, &state.Turn{
			UserInput: state.NewTextMessage(state.UserInput, "user", user),
			Steps:     []*state.Step{said(answer, st.Loop.CommittedSequence)},
		})
	}
	return st
}

func said(answer []state.Content, sequence uint64) *state.Step {
	return &state.Step{
		ModelResponse:  &state.Message{Type: state.ModelResponse, Role: "assistant", Content: answer},
		CommitSequence: sequence,
	}
}

func words(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("question %d", i)
	}
	return out
}

// bulk is text of n bytes whose characters take one to four.
func bulk(n int) string {
	s := strings.Repeat("aé漢😀", n/10+1)
	for len(s) > n {
		s = s[:len(s)-1]
	}
	return strings.ToValidUTF8(s, "")
}

func textOf(raw string) []state.Content { return []state.Content{state.TextContent(raw)} }

// interrupted is a session whose last run stopped in the given phase of a tool exchange.
func interrupted(phase state.LoopPhase) *state.State {
	st := fresh(textOf("ok"), "first")
	call := state.Call{Type: state.SerialWrite, Security: state.RequireConfirm, ID: "c1", Name: "run_command", Arguments: state.EmptyObject().Value}
	step := said(textOf("Working."), 2)
	step.ModelResponse.Calls = []state.Call{call}
	st.Turns[0].Steps = append(st.Turns[0].Steps, step)
	st.Loop.CommittedSequence, st.Loop.Status, st.Loop.Phase = 2, state.StatusRunning, phase
	if phase == state.PhaseProjection {
		st.Loop.Pending = []state.Result{{Call: call, Output: state.TextContent("saved-result")}}
	}
	return st
}
