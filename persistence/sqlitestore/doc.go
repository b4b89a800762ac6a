// Package sqlitestore keeps a session as a normalized SQLite database,
// <root>/<state>/state.db, under the lock <root>/session.lock (worker-data.md §1.12 and
// §2.10, decision 9.15).
//
// It owns the database from Open to Close, its write-ahead log, the mark of a session that is
// in use, and the ways in (Import) and out (Export, Read). The tables and how a state goes
// into them are package table's, the connection is package sqlite's.
//
// It refuses: a second owner; a database, log or directory that is a link or special; an
// empty file; tables of another version; a journal mode other than WAL; a log that is
// missing or belongs to another copy; damage; another session's state; a fresh start
// beside a state.json. Each has an error of its own. It repairs and migrates nothing.
//
// Invariants: those of persistence.Store, and
//   - a save is one immediate transaction with one fsync, and writes only rows of records
//     that are not the ones saved last (records are compared by pointer), so its cost
//     follows the step;
//   - a database is visible only whole: the first save publishes a file that was built
//     in memory;
//   - Load gives the State that the JSON store would have given;
//   - the file is opened by SQLite alone while this process has a connection, and every
//     descriptor is close-on-exec;
//   - Read creates, changes and locks nothing that a writer waits for.
package sqlitestore
