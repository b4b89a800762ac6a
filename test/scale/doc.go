// Package scale drives the real binary with conversations of a size that people reach:
// thousands of turns, tens of megabytes. It measures, and fails where cost follows the
// length of the history instead of what is asked for.
package scale
