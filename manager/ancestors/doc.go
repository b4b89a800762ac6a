// Package ancestors is the way from "/" to an allocation: the directories above it,
// opened one by one without following a link, with the locks on them, and
// `.simplex-manager` beside it (manager.md).
//
// It owns the order of the locks above the lease: ancestors shared from "/" down, the
// parent exclusively. It refuses allocations inside one another, a directory that was
// moved between its opening and its lock, and a `.simplex-manager` into which others may
// write.
//
// Invariants: nothing waits, whoever is locked out gets durable.ErrLocked; a missing
// directory is made only under an exclusive lock of the one above it and is durable
// before the way goes on; a way that is refused holds nothing.
//
// It never looks into a record or an allocation's root.
package ancestors
