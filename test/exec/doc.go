// Package exec holds the five process tools to what they promise of real programs
// (tools.md §3.1, §4): one table of commands, each row run over pipes and in a terminal;
// interactive programs that do real work; floods under a memory bound; and process trees
// of the real binary, which leave nothing behind.
//
// Tests go through tools.Registry and a real process.Store, as the loop does, or through
// the binary and a fake Hub. They learn what they know from result texts, from /proc and
// from the programs themselves.
//
// Invariant: every process that a test starts carries the mark of its desk in its
// environment, and the end of the test fails if a marked one still lives.
//
// SIMPLEX_LONG=1 asks for the long forms: 1 GB of output, one line of 100 MB, 100 trees.
package exec
