// Package process runs children with bounded capture and sure death
// (tools.md §4 and §8, decisions 5–10, 13, 17, 18).
//
// It owns: the session table of a [Store]; the launch of a child in its own
// process group (or its own terminal session); its standard input queue; the
// draining of its output; the observation of its exit; and the orderly end of
// everything that descends from it.
//
// What it is made of has packages of its own: capture keeps output under one
// raw-byte budget, kin knows children, orphans and the process table, sandbox
// confines a child, execve prepares what a child is given.
//
// It refuses: launches beyond the table's limit or after shutdown began,
// input after the end of input, release of a running session. It knows nothing
// of tools, approvals, texts for a model or conversations, and persists nothing.
//
// Invariants:
//
//   - A session is in the table before anybody waits for it, and its number is
//     never used twice.
//   - Readers drain until end of file whatever the budget says: a child never
//     blocks on its output. A read buffer for each stream is held only while
//     something comes.
//   - Waiting is by notification: [Session.Exited], [Session.Complete],
//     [Store.WaitAny]. Nothing polls.
//   - Every descriptor made here is close-on-exec; a child gets 0, 1 and 2
//     only (and 3 for a launch with a Script).
//   - After [Store.Shutdown] with a reaper no descendant is left, whatever
//     group or session it moved to.
//
// A child talks to its host through an ioEnvironment: pipes, or a terminal.
// Sessions and input know only that interface.
package process
