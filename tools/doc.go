// Package tools routes the model's tool calls (contract tools.md §1).
//
// It owns the registry of toolsets, the declarations a tool is known by, the
// checking and settling of arguments, the security check before a tool runs, and
// the shape of error records.
//
// It refuses what it does not know: a keyword outside the closed schema
// vocabulary, an argument no declaration names, a value of the wrong kind (nothing
// is ever coerced), a security class it has not heard of.
//
// Invariants:
//   - Prepare never fails and the function it returns gives exactly one record,
//     which answers the call it was made for. Panics become records.
//   - What is settled is what everybody later sees: the security check, the human
//     who confirms, the tool, and the conversation.
//   - Registration is a start-up act and is not synchronized with dispatch. After
//     it, a Registry may be used by many goroutines; the loop runs one batch at a
//     time.
//   - Declarations built into the program come as JSON, already checked by the
//     tests of their set: YAML is read only where somebody put a directory of
//     their own in front of it.
package tools
