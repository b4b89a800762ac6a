// Package chat is the local operator of a worker: it serves the worker-facing endpoints
// on loopback in this process, runs the worker against them as any Hub would, and shows
// what happens in a terminal.
//
// Standard output is an API: the final answers, or with JSON every event as one line.
// Tools, approvals, errors and prompts go to standard error.
//
// Invariants: one goroutine owns the conversation and the terminal; the worker is always
// stopped in order before Run returns; only the worker with this run's token can connect.
package chat
