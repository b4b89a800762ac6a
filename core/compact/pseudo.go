package compact

import (
	"fmt"

	"simplex/state"
	"simplex/wire"
)

// The pseudo call by which an automatic compaction is shown. It is in no state and no
// registry (worker-data.md §3.9, §4.7).
const (
	PseudoName = "auto_compact"
	pseudoID   = "host-auto-compact-"
)

// PseudoCall is the call to announce in tool_calls; id is a fresh UUID.
func PseudoCall(id string, t Trigger) (state.Call, error) {
	arguments, err := state.ValueOf(t)
	if err != nil {
		return state.Call{}, fmt.Errorf("automatic compaction: trigger: %w", err)
	}
	return state.Call{
		Type: state.SerialWrite, Security: state.Trusted, ID: pseudoID + id, Name: PseudoName, Arguments: arguments,
		Extras: object("origin", "worker", "operation", PseudoName),
	}, nil
}

// PseudoResult is the result to announce in tool_results.
func PseudoResult(call state.Call, out Outcome) state.Result {
	r := state.Result{Call: call, Extras: object("status", string(out.Status))}
	switch out.Status {
	case state.StatusCompleted:
		r.Output = state.TextContent(fmt.Sprintf("The conversation was compacted: %d turns are now a summary. The archive is %s", out.RemovedTurns, out.MemoryFile))
	case state.StatusCancelled:
		r.Output = state.TextContent("The compaction was cancelled; the conversation is as it was.")
	default:
		message := "unknown"
		if out.Err != nil {
			message = out.Err.Error()
		}
		r.Output = state.TextContent("The compaction failed; the conversation is as it was: " + message)
		r.Extras = r.Extras.With("error", object("stage", PseudoName, "message", message).Value)
	}
	return r
}

// Finished is the data of compact_finished for a compaction that completed; revision is
// the history revision after the swap.
func Finished(out Outcome, revision uint64) wire.CompactFinished {
	f := wire.CompactFinished{
		Summary: out.Summary, MemoryFile: out.MemoryFile, RemovedTurns: out.RemovedTurns,
		Revision: revision, Durable: true,
	}
	if out.CleanupErr != nil {
		f.ArchiveCleanupError = wire.Notice(out.CleanupErr.Error())
	} else {
		f.ArchiveCleanup = &wire.ArchiveCleanup{RemovedArchives: out.Cleaned.Archives, RemovedBytes: out.Cleaned.Bytes}
	}
	return f
}

// FinishedAutomatic is Finished for one cycle of a request.
func FinishedAutomatic(out Outcome, revision uint64, cycle Cycle) wire.CompactFinished {
	f := Finished(out, revision)
	f.Origin, f.Cycle, f.CallID = "automatic", cycle.Trigger.Cycle, cycle.Call.ID
	return f
}

// object builds an object of text members from names and values in turn.
func object(pairs ...string) state.Object {
	var members []state.Member
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, state.Member{Name: pairs[i], Value: state.StringValue(pairs[i+1])})
	}
	return state.ObjectFrom(members)
}
