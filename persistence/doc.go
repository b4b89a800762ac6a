// Package persistence is what the program means by a saved session: the Store that
// keeps it, the boundaries at which it is saved (worker-data.md §3.5) and the errors by
// which a caller decides.
//
// It owns the contract; the formats live below it: jsonstore and others. The suite in
// storetest says the contract as tests, and every format passes it.
//
// It refuses: to execute anything, to repair a damaged session, to take an empty one in
// place of one that cannot be read.
//
// Invariants of every Store:
//   - One process at a time has a session root open for writing.
//   - A Save that returned nil at an enabled boundary survives a kill and a power cut.
//   - A Save that failed leaves the last good session, and no later Save writes.
//   - A state of another session than the store's is neither handed out nor saved.
package persistence
