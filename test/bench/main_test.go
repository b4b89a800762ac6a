package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"simplex/process/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.ConfineMain(os.Args)
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	if os.Getenv(echoVariable) != "" {
		os.Exit(serveEcho())
	}
	code := m.Run()
	report()
	os.Exit(code)
}

// volume is n, or a sixteenth of it in a short run.
func volume(n int) int {
	if os.Getenv("SIMPLEX_BENCH_SHORT") != "" {
		return n / 16
	}
	return n
}

// figure is one line of the table.
type figure struct {
	name, ours, bare, ratio, goal string
	met                           bool
}

var figures []figure

// note puts a figure into the table, in place of an earlier one of its name: a benchmark
// runs more than once.
func note(f figure) {
	if at := slices.IndexFunc(figures, func(g figure) bool { return g.name == f.name }); at >= 0 {
		figures[at] = f
		return
	}
	figures = append(figures, f)
}

func report() {
	if len(figures) == 0 {
		return
	}
	fmt.Println()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tours\tbare\tratio (min–max)\tgoal\t")
	for _, f := range figures {
		verdict := "met"
		if !f.met {
			verdict = "MISSED"
		}
		if f.goal == "" {
			verdict = ""
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.name, f.ours, f.bare, f.ratio, f.goal, verdict)
	}
	_ = w.Flush()
}

// pairs are the times of two contestants that took turns.
type pairs struct{ ours, bare []time.Duration }

// race lets both run in turn for each loop of the benchmark; who begins alternates.
func race(b *testing.B, ours, bare func()) *pairs {
	b.Helper()
	p := &pairs{}
	for b.Loop() {
		if len(p.ours)%2 == 0 {
			p.ours = append(p.ours, timed(ours))
			p.bare = append(p.bare, timed(bare))
		} else {
			p.bare = append(p.bare, timed(bare))
			p.ours = append(p.ours, timed(ours))
		}
	}
	return p
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// cost notes how many times as long ours takes; the goal is an upper bound, 0 for none.
func (p *pairs) cost(b *testing.B, name string, goal float64) {
	b.Helper()
	p.note(b, name, goal, func(ours, bare time.Duration) float64 { return float64(ours) / float64(bare) },
		"≤", func(ratio float64) bool { return ratio <= goal })
}

// speed notes how many times as fast ours is; the goal is a lower bound.
func (p *pairs) speed(b *testing.B, name string, goal float64) {
	b.Helper()
	p.note(b, name, goal, func(ours, bare time.Duration) float64 { return float64(bare) / float64(ours) },
		"≥", func(ratio float64) bool { return ratio >= goal })
}

func (p *pairs) note(b *testing.B, name string, goal float64, ratio func(ours, bare time.Duration) float64, sign string, met func(float64) bool) {
	b.Helper()
	var ratios []float64
	for i := range p.ours {
		ratios = append(ratios, ratio(p.ours[i], p.bare[i]))
	}
	middle := median(ratios)
	b.ReportMetric(middle, "ratio")
	f := figure{
		name: name, ours: median(p.ours).Round(time.Microsecond).String(), bare: median(p.bare).Round(time.Microsecond).String(),
		ratio: fmt.Sprintf("%.2f (%.2f–%.2f)", middle, slices.Min(ratios), slices.Max(ratios)), met: met(middle),
	}
	if goal != 0 {
		f.goal = fmt.Sprintf("%s %.2f", sign, goal)
	}
	note(f)
}

func median[T cmp.Ordered](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
