package study

import (
	"math"
	"testing"
)

// TestSpread: one flow is worth one CPU however many queues there are, many are
// worth nearly all, and an elephant of half the frames less than two.
func TestSpread(t *testing.T) {
	s := sweptStudy(t, `name: x
question: q
workload: {queues: [4, 16]}
sweep: [{parameter: flows, values: [1, 20000]}]
variants: [{name: a}, {name: b}]
parts: [{name: flows-$flows, flows: $flows}]
metrics: [{metric: forwarding_rate_pps, part: flows-1, primary: true}]
`)
	got := spreads(s)
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	for _, g := range got {
		low, high := 0.9*float64(g.Queues), float64(g.Queues)
		if g.Flows == 1 {
			low, high = 1, 1
		}
		if g.Even < low || g.Even > high || g.Elephant > math.Min(g.Even, 2) || g.Elephant < 1 {
			t.Errorf("%+v", g)
		}
	}
	if even, elephant := worth([]uint32{0, 1, 2, 3}, 4); even != 4 || !(math.Abs(elephant-1/0.625) <= 1e-12) {
		t.Errorf("four flows on four queues are worth %v CPUs, with an elephant %v", even, elephant)
	}
	s.Workload.Queues = nil
	if got := spreads(s); got != nil {
		t.Errorf("nobody asked for %+v", got)
	}
}
