package storetest

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"simplex/persistence"
	"simplex/state"
)

// Boundaries lists them all.
func Boundaries() []persistence.Boundary {
	return []persistence.Boundary{
		persistence.BeforeTools, persistence.ResultsReady, persistence.StepFinished, persistence.RunFinished,
		persistence.Compact, persistence.Cancelled, persistence.Shutdown,
	}
}

// Session is a state with that many turns, each with a tool call and an answer.
func Session(turns int) *state.State {
	st := state.New(SessionID, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for i := range turns {
		AddTurn(st, fmt.Sprintf("turn %d: ñ 日本 \u2028 <&> \t end", i))
	}
	return st
}

// AddTurn puts one more turn on st.
func AddTurn(st *state.State, text string) {
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", text)})
	call := state.Call{
		Type: state.SerialWrite, Security: state.RequireConfirm, ID: "call-" + text, Name: "run_command",
		Arguments: state.StringValue("not an object: " + text),
	}
	asking := state.NewTextMessage(state.ModelResponse, "assistant", "")
	asking.Calls, asking.CallsSet = []state.Call{call}, true
	asking.Cost = &state.TokenCost{Prompt: 1 << 60, Generated: 7}
	result := state.NewResultMessage(state.Result{Call: call, Output: state.TextContent("[[exit_code]]: 0\n")})
	st.AppendStep(&state.Step{ModelResponse: asking, Returns: []*state.Message{result}, ReturnsSet: true})
	st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", "answer to "+text)})
}

// Text is the document of st.
func Text(t *testing.T, st *state.State) string {
	t.Helper()
	var b bytes.Buffer
	if err := state.Encode(&b, st); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
