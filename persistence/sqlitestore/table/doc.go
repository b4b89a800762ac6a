// Package table is the tables of a session and how a state goes into them and comes out
// again. They are drawn in docs/persistence.md.
//
// It owns the schema and its version, every statement on the tables, what they are known to
// hold (Base), the transaction of a save and the bytes of a new database (Image).
//
// It refuses: rows that do not make a session, each with its place; to open a file, to
// decide when a save happens, to migrate. Where the database stands, who owns it and what
// its log holds is the store's.
//
// Invariants:
//   - a save is one immediate transaction, and writes only rows of records that are not
//     the ones saved last (records are compared by pointer), so its cost follows the step;
//   - ids of messages grow in the order of the document;
//   - what is read is the State that the document of the JSON store would have given: every
//     row has its place, nothing is left over, the numbers of turns and messages are right;
//   - a dangerous place of a save has a label, at which a test can kill or fail it.
package table
