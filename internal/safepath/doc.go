// Package safepath reaches files through descriptors, so that no link and no renamed
// directory can lead it to another place (manager.md, "Envelope" and "Locks").
//
// It owns: opening a path component by component relative to its parent's descriptor;
// making directories (0700) and files (0600) with exactly these modes whatever the
// umask; flock on directories and files, and the presence mark on one byte of a file;
// deletion of a whole tree by descriptor.
//
// It refuses: links in any component (openat2 with RESOLVE_NO_SYMLINKS, or O_NOFOLLOW
// where the kernel lacks it), FIFOs, sockets, devices and directories where a regular
// file is wanted, deletion across a mount point (a bind mount from the same file system
// has the same device number, so that number is no guard), and locks on file systems
// whose flock does not exclude everybody.
//
// Invariants:
//   - A name is one component; it never holds a slash and is never "..".
//   - Every descriptor is close-on-exec and opened without blocking on a FIFO.
//   - Every system call is retried after EINTR and passes through Ops under a label, so
//     that a test can fail it or kill the process there (the seam of internal/durable).
//
// Dir and File values are used by one goroutine at a time.
package safepath
