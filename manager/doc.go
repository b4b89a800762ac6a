// Package manager changes and reads the storage allocations of one machine: one request
// in, one durable change, one answer out (manager.md and the first seed). It also
// resolves the managed configuration of a starting worker and holds the worker's lease.
//
// It owns `.simplex-manager` beside the allocations, with its records and locks, the
// managed reference inside each allocation, and the deletion of an allocation's root.
// What a worker keeps below the root is only read (read_state) or removed whole.
//
// The parts that decide nothing are packages of their own: protocol (requests and
// answers), record (what is known of an allocation), configuration (what its source comes
// to), reference (the file that stands for it inside the root), ancestors (the locked way
// to it) and statefile (the streams of read_state).
//
// It refuses: adopting a directory that it did not make, following a link anywhere,
// deleting across a mount, allocations inside one another, and waiting: whatever cannot
// be had at once is busy.
//
// Invariants:
//   - A record changes in one place only, publish, and at every instant the old or the
//     new record is there whole. plan decides without touching anything; steps can be
//     repeated; so a killed request, repeated, ends as if nothing had happened.
//   - A visible root has a record. A ready record has a complete root. A record that is
//     removing or retired holds no configuration.
//   - Locks are taken in one order: ancestors from "/" down, the parent, the lease.
//     Nothing waits, so nothing can deadlock.
//   - Configuration and secrets are in the record and in answers, never in an error, a
//     log or the reference.
//
// It imports no network package and starts no goroutine.
package manager
