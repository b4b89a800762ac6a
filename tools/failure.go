package tools

import (
	"errors"
	"strings"

	"simplex/state"
)

// Stage says how far a call came (§1.6).
type Stage string

// The stage tokens, as they stand in extras.error.stage.
const (
	StageDispatch      Stage = "dispatch"
	StageArgumentParse Stage = "argument_parse"
	StageSecurityCheck Stage = "security_check"
	StageInvoke        Stage = "invoke"
	StageResultCheck   Stage = "result_check"
	StageUnknown       Stage = "unknown"
)

func (s Stage) phrase() string {
	switch s {
	case StageDispatch:
		return "to find the tool"
	case StageArgumentParse:
		return "to read the arguments"
	case StageSecurityCheck:
		return "the security check"
	case StageInvoke:
		return "to run the tool"
	case StageResultCheck:
		return "to check the result"
	default:
		return "at an unknown stage"
	}
}

// Failure is why a call gave no result. A tool returns one where it has more to
// say than a message; empty members are filled in by the registry.
type Failure struct {
	// Stage where it happened.
	Stage Stage
	// Message for the model, without stage, tool and call.
	Message string
	// Cause is the error of the operating system or transport, if any. Its text is
	// shown; it is not repeated in Message.
	Cause error
	// Call is the call the failure belongs to, where that is not the one that was
	// made.
	Call *state.Call
}

// Error is the message with its cause.
func (f *Failure) Error() string {
	if f.Cause == nil {
		return f.Message
	}
	return f.Message + ": " + f.Cause.Error()
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// asFailure brings any error of a stage into a Failure of its own.
func asFailure(stage Stage, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		out := *f
		if out.Stage == "" {
			out.Stage = stage
		}
		return &out
	}
	return &Failure{Stage: stage, Message: err.Error()}
}

// record is the failure as the answer to call: one line of text, and extras.error
// with the bare message.
func (f *Failure) record(call state.Call) state.Result {
	var pieces []string
	if f.Cause != nil {
		pieces = append(pieces, f.Cause.Error())
	}
	if call.Name != "" {
		pieces = append(pieces, "tool "+call.Name)
	}
	if call.ID != "" {
		pieces = append(pieces, "call "+call.ID)
	}
	text := "Failed " + f.Stage.phrase() + ": " + f.Message
	if len(pieces) > 0 {
		text += " (" + strings.Join(pieces, "; ") + ")"
	}
	extras := state.ObjectFrom([]state.Member{{Name: "error", Value: state.ObjectFrom([]state.Member{
		{Name: "stage", Value: state.StringValue(string(f.Stage))},
		{Name: "message", Value: state.StringValue(f.Message)},
	}).Value}})
	result := state.Result{Call: call, Output: textContent(text), Extras: extras}
	if f.Call != nil {
		result.Call = *f.Call
	}
	return answering(call, result)
}

// answering makes the result answer call. Another call that it names is kept whole
// as extras.cause_query, so that nothing is lost and nothing is filed wrongly.
func answering(call state.Call, result state.Result) state.Result {
	if other := result.Call; other.ID != "" && other.ID != call.ID {
		if cause, err := state.ObjectOf(other); err == nil {
			result.Extras = result.Extras.With("cause_query", cause.Value)
		}
	}
	result.Call = call
	return result
}

// textContent is one text part; tool output that is no UTF-8 could not be stored.
func textContent(s string) state.Content {
	return state.Content{
		Type: state.TypeText, Modality: state.ModalityText,
		Raw: strings.ToValidUTF8(s, "\uFFFD"),
	}
}

// IsError tells whether a result is an error record. A tool that ran and reports
// bad news, such as a nonzero exit code, is none.
func IsError(r state.Result) bool {
	v, ok := r.Extras.Get("error")
	if !ok {
		return false
	}
	_, err := v.Object()
	return err == nil
}
