// Package jsonstore keeps a session as one JSON document, <root>/<state>/state.json,
// under the lock <root>/session.lock (worker-data.md §1.12, decision 9.15).
//
// It owns the lock from Open to Close, the removal of temporary files that a killed
// owner left, and the replacement of the document as a whole at each save.
//
// It refuses: a second owner, a state directory or document behind a symbolic link, a
// document that is not whole, a state of another session.
//
// Invariants: those of persistence.Store, and
//   - a save encodes only the records that are new since the last one, writes one stream
//     and costs one fsync of the file and one of its directory (the first save of a new
//     session one more for each directory that was made);
//   - state.json is never opened for writing, so a reader without the lock sees a whole
//     document.
package jsonstore
