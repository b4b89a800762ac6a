// Package bench measures what the process tools cost against the barest program that does
// the same with os/exec or a bare terminal reader. Each measurement is interleaved: ours
// and the other take turns in one run, and what counts is the median of the ratios of the
// pairs.
//
//	go test ./test/bench -run '^$' -bench . -benchtime 9x
//
// prints a table of all ratios beside their goals at the end. Wall clock ratios on a busy
// machine scatter, so a missed goal is shown and fails nothing. SIMPLEX_BENCH_SHORT=1 cuts
// the volumes down to a sixteenth.
package bench
