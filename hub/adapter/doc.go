// Package adapter is the worker-facing end of a Hub (hub.md §3): it accepts one worker's
// event connection, its one-shot confirmations and its remote tool calls, checks what
// comes in, and hands it to a Handler in order.
//
// It refuses frames that are no text, no valid envelope or of another session, counts
// them, and closes a connection that keeps sending them. It holds no session policy: who
// approves, what is shown and what is kept is the Handler's.
//
// Invariants: one event connection at a time (the newest wins), writes never interleave,
// every connection has a read limit, a ping and a write deadline, and Close ends every
// goroutine that the package started.
package adapter
