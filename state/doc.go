// Package state owns the conversation: every record of worker-data.md §1, its JSON on
// disk and on the wire, the rules of its structure (§3.3) and of its system prompt (§1.5).
//
// It does no I/O beyond the io.Writer it is given, starts nothing and holds no globals.
//
// What it promises:
//   - Records are immutable once they are reachable from a State. Edits replace the record
//     and the slice that holds it, so a shallow Clone is a snapshot and the encoding of a
//     record may be kept under its pointer.
//   - A document that Decode accepts is written back with every member it had, known or
//     not, and with every number of a free-form value as it was spelled.
//   - The same State always gives the same bytes: keys sorted bytewise at every depth.
//   - Reading costs time in proportion to the text, writing after a new step in
//     proportion to the step (plus one copy of the bytes to the writer).
//
// What it refuses: duplicate keys, comments, text after the document, invalid UTF-8, lone
// surrogates, values of the wrong type, shapes that §1.2 refuses. It never repairs and
// never falls back to an empty conversation.
package state
