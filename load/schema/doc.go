// Package schema says what a single value of a document may be, and tells what is wrong
// with one that is something else.
//
// It owns the rows by which keys are described, the rules of kinds, ranges, words and
// names, the texts of the complaints about them, and the guess of which key was meant by
// a misspelled one.
//
// It refuses to know any document: which keys there are, and the rules between values,
// belong to the package that reads them. Nothing is looked up on disk.
//
// Invariants: a complaint names the value's line and slash path and never quotes the
// value; every value that is looked at is judged, so that all mistakes are told at once.
//
// Functions are safe for concurrent use; a Checker is for one goroutine.
package schema
