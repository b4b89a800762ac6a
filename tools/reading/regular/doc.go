// Package regular reads whole regular files for tools, within bounded time and memory
// (contract tools.md §3.2 and §6.3).
//
// It owns the order of checks: open without blocking, then look at what was opened.
// Symbolic links are followed. It refuses what is no regular file (FIFO, socket,
// device, directory) by its type, and what is larger than the caller's limit before a
// byte is read.
//
// Invariants: at most the limit and one byte is held; every descriptor is
// close-on-exec and is closed before return.
package regular
