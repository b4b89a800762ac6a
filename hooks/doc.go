// Package hooks holds the events of the agent loop and the ordered list of those
// who hear them.
//
// It owns the vocabulary (worker-data.md §3.1: thirteen events, which of them may
// change what), the order of dispatch and the rule that a handler's panic is an
// error like any other. It refuses to decide what an error means for a run, and to
// check what a handler changed: both are the loop's.
//
// Invariants: handlers are called one at a time, in registration order, on the
// caller's goroutine. A registry never changes after NewRegistry, so one may be
// shared between goroutines if its handlers may.
package hooks
