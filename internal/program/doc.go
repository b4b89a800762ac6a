// Package program supervises a long-lived child program that is spoken to over its
// standard streams: a hook's program, a tool server (tools.md §1.3).
//
// It owns the child's process group, the three pipes, the bounded copy of its standard
// error in the log, and its end: end of input, TERM, the grace time, KILL, reaping.
//
// It refuses to know what is said over the streams, to look a command up, to start a
// program again and to pass on anything of the parent's environment or descriptors.
//
// Invariants:
//   - The group is signalled only while its leader has not been reaped, so its number
//     cannot be another's.
//   - When the leader ends, by itself or by End, what is left of its group is killed
//     before it is reaped. Whoever left the group is not reached.
//   - End returns within its waits: whoever holds the streams open does not hold it up.
//   - Both goroutines of a Child are over when End has returned without an error.
package program
