// Package sandbox confines a child and everything it starts to writing below two
// directories, by Landlock.
//
// It owns: the [Box], which says where writing is allowed; the question whether this kernel
// can keep that promise ([Available]); the way a confined child starts, by this program's own
// executable, rules and target given by descriptor ([Confinement]); and the child's end of
// it, [ConfineMain].
//
// It refuses: a kernel that cannot keep the whole promise, directories that are not there,
// arguments with a NUL, commands with further descriptors. It knows neither sessions nor
// terminals; it starts no child but that of [Box.Start].
//
// Invariants:
//
//   - A child that could not confine itself is not run, and the reason reaches the host.
//   - Nothing of the child's own environment takes effect before the rules bind.
//   - What the start needs is gone from the child once it has become its target.
package sandbox
