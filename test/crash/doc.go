//go:build crash

// Package crash breaks the real binary at every system call of every mutating operation
// of `simplex manage` and checks what is left (docs/manager.md, "What survives which
// crash"):
//
//	go test -tags crash ./test/crash
//
// strace delivers SIGKILL at the entry of the n-th call of each kind, or lets it fail
// once or from then on. After each point every record is whole, the request repeated
// twice ends as if nothing had happened, and `published` told the truth. Binaries with
// planted faults must be caught, otherwise a zero means nothing. It needs strace; where
// that is missing it fails and does not pass in silence.
package crash
