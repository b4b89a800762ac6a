package compact

import (
	"strings"

	"simplex/state"
	"simplex/wire"
)

// ContinueMessage is the host's own input with which a request goes on after a compaction,
// or a `continue` begins from memory alone. Histories do not show its text (§1.9).
func ContinueMessage(prompt string, source wire.Execution) *state.Message {
	m := state.NewTextMessage(state.UserInput, "user", prompt)
	m.Extras = object("simplex.internal_input", "auto_compact_continue").With("simplex.source",
		object("worker_id", source.WorkerID, "request_id", source.RequestID, "run_id", source.RunID).Value)
	return m
}

// Internal tells whether an input is a ContinueMessage; no input_committed is sent for it.
func Internal(m *state.Message) bool {
	if m == nil {
		return false
	}
	_, ok := m.Extras.Get("simplex.internal_input")
	return ok
}

// CanResume tells whether a `continue` may start from memory alone (§3.7): no turns, phase
// ready, nothing pending, a memory that is not blank.
func CanResume(st *state.State) bool {
	if len(st.Turns) > 0 || st.Loop != nil && (st.Loop.Phase != state.PhaseReady || len(st.Loop.Pending) > 0) {
		return false
	}
	memory, ok := st.SystemPrompt.Section(MemorySection)
	return ok && strings.TrimSpace(memory.Text) != ""
}
