// Package core is the Application: one worker process with one session.
//
// It assembles store, provider, tools, hooks and connection from a configuration, admits
// inputs, runs them through the loop, saves at the contract's boundaries before it
// announces them, compacts, answers queries and signals, and ends everything in order.
//
// It refuses to run anything while the effects of an interrupted tool batch are unknown,
// after a required save failed, and anything twice under one request id.
//
// Invariants: one goroutine, the executor, owns the state and everything reachable from
// the run under way; others see snapshots. Events leave in the order of their sequence,
// which is given at admission to the outbox. No event tells of something that a crash
// could take back. Whatever New or Run started has ended when Close returns.
package core
