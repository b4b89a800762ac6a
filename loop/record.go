package loop

import (
	"fmt"
	"strings"

	"simplex/state"
)

// withResults is the step with its calls answered.
func withResults(step *state.Step, results []state.Result) *state.Step {
	next := *step
	next.ReturnsSet = true
	next.Returns = make([]*state.Message, len(results))
	for i := range results {
		next.Returns[i] = state.NewResultMessage(results[i])
	}
	return &next
}

// skipAll makes the records of calls that were never dispatched. They are no errors.
func skipAll(calls []state.Call, why string) []state.Result {
	yes, _ := state.ValueOf(true)
	extras := state.ObjectFrom([]state.Member{{Name: "loop_skipped", Value: yes}})
	out := make([]state.Result, len(calls))
	for i, c := range calls {
		out[i] = state.Result{Call: c, Output: state.TextContent(why), Extras: extras}
	}
	return out
}

// The failure stages of an error record that the loop itself makes (§1.9).
const (
	stageDispatch = "dispatch"
	stageUnknown  = "unknown"
)

// failureRecord is an error record for a call (tools.md §1.9).
func failureRecord(c state.Call, stage, message string) state.Result {
	phrase := "at an unknown stage"
	if stage == stageDispatch {
		phrase = "to find the tool"
	}
	message = strings.ToValidUTF8(message, "\uFFFD")
	detail := state.ObjectFrom([]state.Member{
		{Name: "stage", Value: state.StringValue(stage)},
		{Name: "message", Value: state.StringValue(message)},
	})
	return state.Result{
		Call:   c,
		Output: state.TextContent(fmt.Sprintf("Failed %s: %s (tool %s; call %s)", phrase, message, c.Name, c.ID)),
		Extras: state.ObjectFrom([]state.Member{{Name: "error", Value: detail.Value}}),
	}
}

// corrected makes a tool's record the record of the call it was made for: a missing
// one is filled in, one that names another call keeps that call as cause_query.
func corrected(rec state.Result, settled state.Call) state.Result {
	if rec == (state.Result{}) {
		return failureRecord(settled, stageUnknown, "the tool gave no result")
	}
	if other := rec.Call; other.ID != settled.ID || other.Name != settled.Name {
		rec.Call = settled
		if other.ID != "" && other.ID != settled.ID {
			rec.Extras = withCause(rec.Extras, other)
		}
	}
	rec.Call.Type = classOf(rec.Call.Type) // an unknown one would be read back as read_only
	if rec.Output.Type == "" {
		rec.Output.Type = state.TypeText
	}
	if rec.Output.Modality == "" {
		rec.Output.Modality = state.ModalityText
	}
	// One bad byte would make the whole session impossible to save.
	rec.Output.Raw = strings.ToValidUTF8(rec.Output.Raw, "\uFFFD")
	return rec
}

func withCause(extras state.Object, other state.Call) state.Object {
	cause, err := state.ValueOf(other)
	if err != nil { // a name that is no UTF-8: not worth more than its omission
		return extras
	}
	return extras.With("cause_query", cause)
}
