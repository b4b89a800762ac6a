// Package record is the record of one allocation: what the manager knows of it, the
// statuses it goes through and the bytes of `.simplex-manager/<id>.json` (manager.md).
//
// It owns the type, what must be there in each status and what must not, and the one
// codec. It refuses bytes that are cut, changed or of another version, members of
// another type and records that contradict their status.
//
// Invariants:
//   - Records are values: a change makes a new one.
//   - A record that is removing or retired holds no configuration.
//   - The members of a later program's record of this version survive a change.
//   - An error never quotes the record, which may hold secrets.
//
// It does no I/O: the manager reads and publishes the file. It reads no YAML: what a
// source comes to is the manager's to say.
package record
