// Package kin knows the processes that descend from this one, as the kernel tells of them
// (tools.md §4.7, §4.8).
//
// It owns: a [Child], which is a process started here together with the group it leads:
// its exit status and the signals to it; the process table and who is below whom in it
// ([Scan], [Descendants]); the wait for the death of processes that are nobody's children
// here ([Watch]); and the adoption and reaping of orphans ([Reaper]).
//
// It refuses: a signal to a child that has exited, or to a group that was seen empty after
// its leader; adoption where orphans cannot be told from own children. It starts no process
// and decides on no death: which processes have to end, and how politely, is its user's.
//
// Invariants:
//
//   - Whoever reaps a child holds the lock that signals need, so no signal is ever sent to a
//     process id that was given back to the kernel.
//   - The exit status of a child that somebody else waits for, os/exec too, is never taken.
//   - A process is known by its id and its start, never by the id alone.
//   - Every descriptor made here is close-on-exec.
package kin
