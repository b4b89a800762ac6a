// Package offline is a model without a model: a deterministic server of Chat Completions
// and Responses on the loopback, and the provider plugin that starts one for itself and
// talks to it through package chat, over real HTTP.
//
// It owns the scenarios, the quirks that real servers have shown among them, and the
// script mode that tests use. It refuses to be reachable from other machines unless it
// is told an address. Invariants: the same conversation gets the same answer (only the
// rate limits also look at how often it was sent); what plays a quirk refuses any
// conversation that a strict server would; nothing runs before the first exchange;
// Close ends every goroutine and connection, hanging answers included.
package offline
