// Package offline is a model without a model: a deterministic Chat Completions server
// on the loopback, and the provider plugin that starts one for itself and talks to it
// through package chat, over real HTTP.
//
// It owns the scenarios and the script mode that tests use. It refuses to be
// reachable from other machines unless it is told an address. Invariants: the same
// conversation gets the same answer; nothing runs before the first exchange; Close
// ends every goroutine and connection, hanging answers included.
package offline
