// Package replay sends a conversation again and again without encoding it again and
// again. It owns the body that grows with the conversation, and the rules that keep a
// replayed conversation valid whatever the model once sent: unique call ids, one result
// behind each call, arguments that are a JSON object, names and roles that servers take
// (worker-data.md §6.4, §9 decisions 11 and 12).
//
// It refuses to know a protocol: a Form writes the records. Invariants: the body of a
// growing conversation keeps its prefix byte for byte; a record that stands where it
// stood before is not written again; a failed build leaves no half-written record.
package replay
