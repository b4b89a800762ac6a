// Package external is a loop hook that is a program of its own (worker-data.md §3.1,
// §3.4; the protocol is told in docs/plugins.md).
//
// It owns the program's process (its own group, standard streams only, its standard
// error in the log at debug), the JSON lines in both directions, the checking of an
// edit before anything of it is taken over, and what a broken, late or dead program
// means for the run.
//
// It refuses: answers to anything but the two EditOn events, edits of members other
// than system_prompt, turns and extras, edits that break the structure rules.
//
// Invariants:
//   - An edit is applied whole or not at all, here and not only by the loop, so that a
//     hook which fails open leaves no trace.
//   - No event holds the run up for longer than the deadline (twice that where the
//     program must be started again first).
//   - A program that is late, ends or breaks the protocol is ended and, at a later
//     event, started again; at most MaxRestarts times. Every such failure is in the log.
//   - After Close the program and its group are gone.
package external
