// Package intercom is the connecting end of text WebSockets: the reconnecting [Client], the
// one-shot [Exchange], and the [Router] that sorts Hub frames into bounded queues (wire.md
// §1 and §7, tools.md §5).
//
// It refuses binary messages, messages over the inbound cap, and to know what a message
// means beyond its envelope. URLs carry tokens in the query, so nothing here logs or
// quotes one with its query.
//
// Invariants: every buffer and queue is bounded; every network step has a deadline; a
// message admitted by Send is written at most once and in order; when Run or
// Exchange returns, nothing of it runs on.
package intercom
