// Package exchange is an llm.Provider less its protocol: it takes a conversation to a
// request body, through the tries of sending it, to one response (worker-data.md §6).
//
// It owns the settings and options while the provider runs, the builder that remembers
// the conversation, the client, the ids of exchanges, and the word to whoever watches
// that a try is repeated. It refuses to know a protocol: a Form writes the body and an
// Answer reads the events.
//
// Invariants: every try begins with a fresh Answer; a restart is told only where
// something of the failed try was shown; an exchange that fails gives no message.
package exchange
