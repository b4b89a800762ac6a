// Package execve prepares what a child is given by the system call of that name beside its
// program and arguments (tools.md §4.4, §8.18).
//
// It owns: the environment, merged by key; the check of a working directory; and text handed
// over as an anonymous file.
//
// It refuses: explicit environment entries that are no KEY=VALUE, and directories that a
// child could not change into. It starts nothing and reads nothing of the host's: what is
// inherited is its caller's to pass.
//
// Invariants:
//
//   - A key is in a merged environment once, with the value that came last.
//   - No error shows the value of an environment entry.
//   - Every descriptor made here is close-on-exec.
package execve
