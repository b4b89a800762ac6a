// Package conformance holds the worker to its wire contract (wire.md): a fake Hub drives
// the real binary, and each row of the contract's tables is a row of a table here that
// names its section.
//
// The rows look at frames, files and exit codes only. A row that needs the worker to be
// in a certain state brings it there by frames or by a state file.
package conformance
