//go:build crash

// Package crashworker takes the power, the disk and the space away from a worker that
// saves turns, in both formats of the state, and checks what is left (docs/persistence.md):
//
//	go test -tags crash ./test/crashworker
//
// A store that says which saves it acknowledged dies at every changing system call on
// ext4, ext4 without its safety nets and xfs, and the file system loses what was not
// synced. The real binary loses its disk at every event that it tells, and writes and
// fsyncs of its database fail. What was acknowledged or told is there afterwards, whole,
// and the session goes on. An fsync that is left out must be seen, otherwise a zero
// means nothing. It needs root, strace and loop devices; where one is missing it fails
// and does not pass in silence.
package crashworker
