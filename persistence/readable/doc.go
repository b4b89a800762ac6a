// Package readable writes a conversation as Markdown for a person to read
// (worker-data.md §7): the file readable.md beside a session and the state.md of each
// archive. Nothing reads it back.
//
// It owns the layout, the fences and the limits of JSON previews. It refuses to change or
// to shorten what was said: prose is written whole, only JSON previews are clipped, and
// each cut says what is missing.
//
// Invariants:
//   - What a record holds cannot forge structure: every text of unknown origin stands in a
//     fence longer than any run of backticks inside it.
//   - Output is streamed; memory follows the largest record, not the conversation.
//   - Text that is no UTF-8 is an error that names its place, and a published file is then
//     left as it was.
//   - The same state gives the same bytes.
package readable
