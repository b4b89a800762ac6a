// Package sqlite is one connection to a SQLite database, without database/sql.
//
// It owns how a database is opened (Access), its statements, which are prepared once and
// kept, the rows that a query gives (Cursor), and the errors by which a caller decides
// what SQLite's own mean.
//
// It refuses: to make a file; to know any table; a text that is not UTF-8 where one is
// read.
//
// Invariants:
//   - a connection and its cursors are for one goroutine at a time;
//   - SQLite waits for another program's lock for a limited time, then it is ErrBusy;
//   - an error of a statement names the database's path, and damage is a *persistence.CorruptError;
//   - a commit is durable (synchronous=FULL) unless a statement says otherwise.
package sqlite
