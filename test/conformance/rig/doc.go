// Package rig surrounds the real binary with what a worker needs, for tests that look at
// it from outside only: a directory, a fake Hub, a scripted model and a valve in the
// connection.
//
// It owns building the binary, its processes and their end. It refuses to know how the
// worker is made: nothing here imports core, and what a test learns it learns from
// frames, files and exit codes.
//
// Invariants: every process and listener ends with its test; every wait is bounded by
// Patience; no wait is a sleep.
package rig
