//go:build crash

// Package crash breaks the real binary at every system call of every mutating operation
// of `simplex manage` and checks what is left (docs/manager.md, "What survives which
// crash"):
//
//	go test -tags crash -timeout 60m ./test/crash
//
// The layers:
//
//   - kill, errors: strace delivers SIGKILL at the entry of the n-th call of each kind,
//     or lets it fail once or from then on; compound: one upon the other. EMFILE comes at
//     every call that makes a descriptor, in the operations that only read, too.
//   - power: a loop-mounted file system is shut down before each call that changes
//     something.
//   - strict: the trace of an operation is replayed on a file system in memory that
//     keeps only what fsync promises, cut after each call, and once more in the repeat.
//   - full, limits: disks that are full, read-only or hold a file that cannot be deleted;
//     limits on the size of files and on open files.
//   - races: 32 processes at once about one hierarchy, and about one allocation; workers
//     that start and are killed at random against removals.
//
// After each point every record is whole, the request repeated twice ends as if nothing
// had happened, `published` told the truth, and a canary beside the allocations, to which
// links lead out of them, is as it was. Binaries with planted faults must be
// caught, otherwise a zero means nothing. The figures come once more at the end. A layer
// that lacks strace, root or loop devices says SKIPPED with the reason and fails. Random
// choices are brought back by SEED=; SIMPLEX_LONG=1 tries more errors and rounds.
package crash
