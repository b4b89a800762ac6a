package scale

import (
	"slices"
	"testing"
	"time"

	"simplex/test/conformance/rig"
)

// ratioLimit is how much more 10,000 turns may cost than 100.
const ratioLimit = 1.3

// probe is one thing a Hub asks for, always for the same amount of data.
type probe struct {
	name string
	ask  func(r *rig.Rig, source rig.Object)
}

func probes() []probe {
	return []probe{
		{"history page", func(r *rig.Rig, _ rig.Object) { history(r, 40, 0) }},
		{"answer page", func(r *rig.Rig, source rig.Object) { read(r, source) }},
		{"status event", func(r *rig.Rig, _ rig.Object) { r.Signal(rig.Op("status")); r.Expect("status") }},
		{"rejection event", func(r *rig.Rig, _ rig.Object) {
			r.Payload(rig.Op("nothing", "request_id", "x"))
			r.Expect("input_rejected")
		}},
	}
}

// TestCostFollowsThePage asks two workers, one with 100 turns and one with 10,000, for
// the same things in turn and compares the fast quarter of their times: what is slower
// than that was the machine.
func TestCostFollowsThePage(t *testing.T) {
	sizes := []int{100, 10_000}
	var rigs []*rig.Rig
	var sources []rig.Object
	for _, n := range sizes {
		r := rig.New(t)
		r.Put(conversation(n, 1000, 0))
		p := r.Online()
		defer p.Stop()
		rigs = append(rigs, r)
		sources = append(sources, history(r, 40, 0).Turns[0].Steps[0].AnswerSource)
	}
	for _, probe := range probes() {
		var ratio float64
		for range 3 { // a busy machine gets another chance
			took := measure(rigs, sources, probe)
			ratio = float64(took[1]) / float64(took[0])
			t.Logf("%s: %v with %d turns, %v with %d: ratio %.2f", probe.name, took[0], sizes[0], took[1], sizes[1], ratio)
			if ratio <= ratioLimit {
				break
			}
		}
		if ratio > ratioLimit {
			t.Errorf("%s: ratio %.2f, limit %v", probe.name, ratio, ratioLimit)
		}
	}
}

// measure gives the lower quartile of each rig's times.
func measure(rigs []*rig.Rig, sources []rig.Object, p probe) []time.Duration {
	const samples = 200
	times := make([][]time.Duration, len(rigs))
	for range samples {
		for i, r := range rigs {
			began := time.Now()
			p.ask(r, sources[i])
			times[i] = append(times[i], time.Since(began))
		}
	}
	out := make([]time.Duration, len(rigs))
	for i := range times {
		slices.Sort(times[i])
		out[i] = times[i][samples/4]
	}
	return out
}
