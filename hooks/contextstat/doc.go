// Package contextstat is the intrinsic loop hook context_statistic (worker-data.md
// §1.11): it counts the tokens of every exchange and keeps the sums, maxima and ratios
// in the session, at extras.external_status.context_statistic.
//
// Invariants: every committed step is counted exactly once, in order of its
// commit_sequence; what cannot be counted so (a gap, a pruned step, a cost that
// contradicts itself, a damaged slot) is an error that fails the run, never a guess.
//
// The work of one event follows the steps that are new since the last one; the history is
// walked once, when a session has no slot yet.
//
// The hook reads no file: load/plugin finds and reads its config.yaml.
package contextstat
