// Package chat speaks Chat Completions, always streaming (worker-data.md §6.4, §6.5,
// §6.7): it maps a conversation to a request body, and the event stream to one model
// response.
//
// It owns the mapping of records, the assembly of the answer, and Dialect, the table of
// differences by which other plugins reuse it; replay puts the records together. It
// refuses content that the protocol has no place for before anything is sent.
//
// Invariants: what is sent is always a valid conversation: roles fit their place,
// every call has one result right behind it, call ids are unique, arguments are a
// JSON object as text, and no assistant message is empty. The body of a growing
// conversation keeps its prefix byte for byte: settings, tools, then the messages in
// order; records that were sent before are not encoded again. An answer is returned
// whole or not at all.
package chat
