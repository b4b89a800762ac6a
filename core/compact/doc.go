// Package compact replaces a conversation by a summary of it (worker-data.md §3.9, §4,
// wire.md §8): by hand, or when a run asks for it.
//
// It owns the plan and its budgets, the private summary run, what a summary and its
// replacement must fulfil, the order of the steps, and the decisions of the automatic
// controller with the pseudo call that shows it.
//
// It refuses storage and events of its own: archives, the save, the swap and what is
// announced come in as small interfaces and functions. It writes to no state: a
// replacement is a new value, and whoever owns the session takes it over.
//
// Invariants:
//   - Whatever fails, is cancelled or crashes before the save returned leaves the session
//     as it was, in memory and on disk.
//   - A replacement holds no turn, so no call or result of the old history can be left
//     without its other half; what the history said is in the summary and the archive.
//   - A replacement fits the budget and is at least a tenth smaller; a blank or too long
//     summary is never taken.
//   - One compaction asks the model once. One request makes at most as many as configured,
//     and never two with a single exchange between them.
package compact
