// Package loop runs the agent loop: one user input (or the existing conversation)
// to an end, through model exchanges and tool batches (worker-data.md §3).
//
// It owns the order of events, the phases and counters of state.LoopProgress, the
// scheduling of a tool batch, what a hook may change, and the promise that every
// call of the model has exactly one result. It refuses I/O: the model, the tools,
// the confirmation and the durable points come in through Config.
//
// Invariants, kept at every event of a run:
//
//   - The state satisfies state.Check for its phase. A call is unanswered only in the
//     last step and only in phases tools, blocked and projection; ModelCommitted and
//     BeforeToolBatch alone see it a moment earlier, still in phase ready. However a
//     run ends, each call has its one result.
//   - Records are replaced, never written: a clone of the state taken by a handler
//     does not change later and may be read by other goroutines.
//   - Call ids are unique through the conversation; results answer by position and
//     always name the call they were made for.
//   - commit_sequence goes up by one with each step that is integrated.
//   - Work per exchange follows the last turn, not the history. The whole history is
//     checked when a run starts and after a hook changed it; in between only pointer
//     slices are copied.
//   - A panic of the model fails the run, one of a hook is the hook's error, one of a
//     tool is that call's error record.
package loop
