// Package archive keeps what compaction takes out of a session: one directory for each
// attempt below the memory directory, with the old state as Markdown in it
// (worker-data.md §4.2, §4.6).
//
// It owns the names and their ordinals, the creation of a directory that nobody else
// has, and the retention that removes old ones.
//
// It refuses to touch what it does not recognise: a link, a directory with anything beside
// one regular state.md, a name of another form. Removal is one unlink and one rmdir by
// descriptor, never recursive, never through a link.
//
// Invariants:
//   - An ordinal is used once; order comes from it and not from the clock.
//   - A directory that stood there before is never written to.
//   - The current archive and those that a state refers to are never removed.
package archive
