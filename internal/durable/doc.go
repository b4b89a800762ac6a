// Package durable writes files that survive a crash and takes the locks that keep a
// second writer away (worker-data.md §1.12, tools.md §6.1 and §6.3).
//
// It owns:
//   - publication: a temporary file in the destination's own directory, written,
//     fsynced, closed and renamed over the destination, then an fsync of the directory;
//   - lock files held with flock(2), found again by inode and never unlinked;
//   - reading a regular file without following a link in its last component.
//
// It refuses: destinations that are more than a plain name inside an opened directory,
// lock files that are links or no regular files, and file systems (NFS, SMB, 9p) whose
// flock does not exclude writers on other machines.
//
// Invariants:
//   - At every instant the destination holds the old content whole or the new content whole.
//   - An error says whether the new content is already visible (PublishError.Published).
//   - One publication costs exactly one fsync of a file and one of a directory.
//   - Every descriptor is close-on-exec, so no child carries a lock past its exec.
//   - Every system call passes through Ops under a label, so that a test can fail it or
//     kill the process there; without a hook that is one nil check.
package durable
